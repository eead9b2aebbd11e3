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


def commit_of(checkout: str | os.PathLike) -> str | None:
    """Git's name of a checkout's commit, or None for a folder that is merely somewhere in a repository.

    Installed packages are, where a project keeps its environment in its own folder.
    """
    return (
        git("describe", "--always", "--dirty", folder=checkout) if Path(checkout, ".git").exists() else None
    )


def lock_digest(folder: str | os.PathLike = ".") -> str | None:
    """The sha256 of the lock that environments are made from, or None without one."""
    lock = Path(folder, "requirements.lock")
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else None
