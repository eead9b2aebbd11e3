"""The commit of the code and the configuration, as git tells it."""

import hashlib
import os
import subprocess
from pathlib import Path

# This package, in the folder `src` of a checkout or among installed packages.
PACKAGE = Path(__file__).resolve().parents[1]
# Untracked files in these folders are code that no commit holds.
CODE = (":/src", ":/workflow", ":/config", ":/Snakefile")
# With these, which git sets for hooks, git would answer for another repository.
OF_A_REPOSITORY = {
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"),
    *("GIT_NAMESPACE", "GIT_PREFIX"),
}


def git(*arguments: str, folder: str | os.PathLike) -> str | None:
    """The output of git in a folder; None without git, without a repository or without a commit."""
    environment = {name: value for name, value in os.environ.items() if name not in OF_A_REPOSITORY}
    command = ["git", "-C", folder, *arguments]
    try:
        answer = subprocess.run(
            command, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def commit_of(folder: str | os.PathLike) -> str | None:
    """Git's name of the commit of a folder, with ``-dirty`` where the code differs from it.

    None for a folder that is not tracked, such as an environment or an unpacked archive in a project.
    """
    name = git("describe", "--always", folder=folder) if _is_tracked(folder) else None
    return f"{name}-dirty" if name and _is_dirty(folder) else name


def code_tags(folder: str | os.PathLike = PACKAGE) -> dict[str, str]:
    """The commit of a package in ``src``, whether the code differs from it, and the lock's sha256."""
    commit = git("rev-parse", "HEAD", folder=folder) if _is_tracked(folder) else None
    return {
        "commit": commit or "unknown",
        "dirty": str(_is_dirty(folder)).lower() if commit else "unknown",
        "lock": lock_digest(Path(folder).parents[1]) or "unknown",
    }


def _is_tracked(folder: str | os.PathLike) -> bool:
    return bool(git("ls-files", "--", ".", folder=folder))


def _is_dirty(folder: str | os.PathLike) -> bool:
    changed = git("status", "--porcelain", "--untracked-files=no", folder=folder)
    return bool(changed or git("ls-files", "--others", "--exclude-standard", "--", *CODE, folder=folder))


def lock_digest(folder: str | os.PathLike) -> str | None:
    """The sha256 of the lock that environments are made from, or None without one."""
    lock = Path(folder, "requirements.lock")
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else None
