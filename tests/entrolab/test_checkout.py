"""What git says of a folder, and silence where it cannot say anything."""

import subprocess

from entrolab.checkout import commit_of, git, lock_digest


def test_the_commit_of_a_folder_is_told(tmp_path):
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for command in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    head = git("rev-parse", "HEAD", folder=tmp_path)
    assert len(head) == 40
    assert head.startswith(commit_of(tmp_path))
    (tmp_path / "environment").mkdir()
    assert commit_of(tmp_path / "environment") is None


def test_no_repository_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git("rev-parse", "HEAD", folder=tmp_path) is None


def test_no_git_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git("--version", folder=tmp_path) is None


def test_the_lock_is_told_by_its_checksum(tmp_path):
    assert lock_digest(tmp_path) is None
    (tmp_path / "requirements.lock").write_bytes(b"abc")
    # The example of FIPS 180-2, appendix B.1.
    assert lock_digest(tmp_path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
