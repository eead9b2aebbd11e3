"""What git says of a folder, and silence where it cannot say anything."""

import subprocess

from entrolearn.lab.checkout import git


def test_the_commit_of_a_folder_is_told(tmp_path):
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for command in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    head = git("rev-parse", "HEAD", folder=tmp_path)
    assert len(head) == 40
    assert head.startswith(git("describe", "--always", folder=tmp_path))


def test_no_repository_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git("rev-parse", "HEAD", folder=tmp_path) is None


def test_no_git_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git("--version", folder=tmp_path) is None
