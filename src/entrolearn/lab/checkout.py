"""The checkout that the code and the configuration came from."""

import hashlib
import os
import subprocess
from pathlib import Path


def git(*arguments: str, folder: str | os.PathLike = ".") -> str | None:
    """What git answers in a folder, or None without git, without a repository or without a commit."""
    try:
        answer = subprocess.run(
            ["git", "-C", folder, *arguments], capture_output=True, encoding="utf-8", check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def lock_digest(folder: str | os.PathLike = ".") -> str | None:
    """The sha256 of the lock that environments are made from, or None without one."""
    lock = Path(folder, "requirements.lock")
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else None
