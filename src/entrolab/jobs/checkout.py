"""Git commit and dirty state of the code and the configuration, and the checksum of the lock file."""

import hashlib
import os
import subprocess
from pathlib import Path

# Folder of this package, in `src` of a checkout or in site-packages.
PACKAGE = Path(__file__).resolve().parents[1]
# Untracked files in these folders make the checkout dirty.
CODE = (":/src", ":/workflow", ":/config", ":/Snakefile")
# Git sets these variables for hooks. They must not be inherited: git would read the hook's repository.
OF_A_REPOSITORY = {
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"),
    *("GIT_NAMESPACE", "GIT_PREFIX"),
}


def git(*arguments: str, folder: str | os.PathLike) -> str | None:
    """The output of a git command in a folder; None if git, a repository or a commit is missing."""
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
    """The output of ``git describe --always`` for a folder, with ``-dirty`` if the code differs from it.

    None for a folder without tracked files, such as an environment or an unpacked archive in a repository.
    """
    name = git("describe", "--always", folder=folder) if _is_tracked(folder) else None
    return f"{name}-dirty" if name and _is_dirty(folder) else name


def code_tags(folder: str | os.PathLike = PACKAGE) -> dict[str, str]:
    """The commit of a package in ``src``, whether the code differs from it, and the lock file's sha256."""
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
    """The sha256 of ``requirements.lock`` in a folder, or None if there is no such file."""
    lock = Path(folder, "requirements.lock")
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else None
