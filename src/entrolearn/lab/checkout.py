"""The checkout that the code and the configuration came from."""

import os
import subprocess


def git(*arguments: str, folder: str | os.PathLike = ".") -> str | None:
    """What git answers in a folder, or None without git, without a repository or without a commit."""
    try:
        answer = subprocess.run(
            ["git", "-C", folder, *arguments], capture_output=True, encoding="utf-8", check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()
