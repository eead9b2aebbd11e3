"""What git says of a folder, and silence where it cannot say anything."""

import subprocess

import pytest

from entrolab.jobs.checkout import code_tags, commit_of, git, lock_digest


def committed(folder, *files):
    """Make a folder a repository with these files, made where they are not there; its commit."""
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    for command in (["init", "-q"], ["add", *files], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", folder, *command], check=True)
    return git("rev-parse", "HEAD", folder=folder)


@pytest.fixture
def checkout(tmp_path):
    """A folder with a package in it, as this repository has it, not committed."""
    (tmp_path / "home" / "src" / "package").mkdir(parents=True)
    (tmp_path / "home" / "src" / "package" / "module.py").write_text("")
    return tmp_path / "home"


def test_the_commit_and_the_lock_of_the_code_are_told(checkout):
    (checkout / "requirements.lock").write_bytes(b"abc")
    head = committed(checkout, "src/package/module.py", "requirements.lock", "README.md")
    assert len(head) == 40
    assert head.startswith(commit_of(checkout))
    lock = lock_digest(checkout)
    assert code_tags(checkout / "src/package") == {"commit": head, "dirty": "false", "lock": lock}
    (checkout / "README.md").write_text("changed")
    assert code_tags(checkout / "src/package") == {"commit": head, "dirty": "true", "lock": lock}


@pytest.mark.fault("Surroundings", "a module in src/ that git does not know", "the run says: not that commit")
@pytest.mark.parametrize("file", ["src/package/late.py", "workflow/rules/late.smk", "config/papers/late.py"])
def test_code_that_git_does_not_know_is_a_difference(checkout, file):
    committed(checkout, "src/package/module.py", ".gitignore")
    (checkout / "notes.txt").write_text("no code")
    assert code_tags(checkout / "src/package")["dirty"] == "false"
    (checkout / file).parent.mkdir(parents=True, exist_ok=True)
    (checkout / file).write_text("")
    assert code_tags(checkout / "src/package")["dirty"] == "true"
    assert commit_of(checkout).endswith("-dirty")


@pytest.mark.fault("Surroundings", "a copy unpacked, or installed, in another repository", "no commit told")
def test_a_folder_in_another_repository_has_no_commit(checkout):
    committed(checkout.parent, "theirs.py")
    assert commit_of(checkout) is None
    assert code_tags(checkout / "src/package") == dict.fromkeys(("commit", "dirty", "lock"), "unknown")


@pytest.mark.fault("Surroundings", "GIT_DIR of another repository, as hooks set it", "the code's commit")
def test_the_repository_is_that_of_the_folder(checkout, monkeypatch):
    (checkout.parent / "other").mkdir()
    committed(checkout.parent / "other", "theirs.py")
    head = committed(checkout, "src/package/module.py")
    monkeypatch.setenv("GIT_DIR", str(checkout.parent / "other" / ".git"))
    assert code_tags(checkout / "src/package")["commit"] == head


def test_no_repository_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git("rev-parse", "HEAD", folder=tmp_path) is None
    assert commit_of(tmp_path) is None


def test_no_git_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git("--version", folder=tmp_path) is None


def test_the_lock_is_told_by_its_checksum(tmp_path):
    assert lock_digest(tmp_path) is None
    (tmp_path / "requirements.lock").write_bytes(b"abc")
    # The example of FIPS 180-2, appendix B.1.
    assert lock_digest(tmp_path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
