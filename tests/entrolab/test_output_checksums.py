"""What jobs note of their outputs: whatever changes afterwards is noticed, in every kind of file."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import Ridge

from entrolab.data.dataset import save_folds
from entrolab.io.parquet import read_frame, write_frame
from entrolab.io.records import read_json, write_json
from entrolab.jobs.output_checksums import changed_files, end_future, note_of, set_changed_aside, write_note

RECORD, SCORES = "results/eem/records/heart/svm.json", "results/eem/selection/heart"
LOG = "logs/eem/train/heart/svm.log"

DAMAGES = {
    "cut": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "one bit": lambda content: content[:-9] + bytes([content[-9] ^ 4]) + content[-8:],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def written():
    """One file of each kind that jobs write, and the note of the job that wrote them."""
    files = {
        "npz": lambda path: save_folds(path, np.arange(12).reshape(2, 6)),
        "parquet": lambda path: write_frame(path, pd.DataFrame({"gmean": [0.5, 0.25]})),
        "json": lambda path: write_json(path, {"gmean": 0.5}),
        "skops": lambda path: skops.io.dump(Ridge().fit(np.eye(3), [0, 1, 2]), path),
        "csv": lambda path: path.write_text("dataset,model,ours\nheart,svm,81.25\n"),
        "svg": lambda path: path.write_text("<svg><path d='M 0 0 L 1 1'/></svg>"),
        "png": lambda path: path.write_bytes(bytes(range(256))),
    }
    Path("results").mkdir()
    paths = {kind: Path("results", f"made.{kind}") for kind in files}
    for kind, write in files.items():
        write(paths[kind])
    write_note(note_of(LOG), map(str, paths.values()))
    return paths


@pytest.fixture
def scores():
    """A folder that a job wrote, with the time that snakemake keeps in it."""
    for model in ("svm", "lda"):
        write_json(Path(SCORES, f"{model}.json"), {"gmean": 0.5})
    write_note(note_of(LOG), [SCORES])
    Path(SCORES, ".snakemake_timestamp").touch()
    return Path(SCORES)


@pytest.mark.fault(
    "Disk", "a result cut, emptied or with a bit flipped, by hand", "named, set aside and made again"
)
@pytest.mark.parametrize("kind", ["npz", "parquet", "json", "skops", "csv", "svg", "png"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_noticed_and_set_aside(written, kind, damage):
    damaged = written[kind]
    content = DAMAGES[damage](damaged.read_bytes())
    damaged.write_bytes(content)
    assert changed_files() == [str(damaged)]
    assert damaged.exists()
    assert set_changed_aside() == [str(damaged)]
    assert not damaged.exists()
    assert Path("results/.changed", damaged).read_bytes() == content
    assert changed_files() == []


def test_what_is_as_it_was_written_is_left_alone(written):
    times = {path: path.stat().st_mtime_ns for path in written.values()}
    assert set_changed_aside() == []
    assert {path: path.stat().st_mtime_ns for path in times} == times


def test_a_missing_file_is_snakemakes_to_make(written):
    written["json"].unlink()
    assert changed_files() == []


def test_a_folder_is_set_aside_with_all_that_is_in_it(scores):
    (scores / "svm.json").unlink()
    assert set_changed_aside() == [f"{SCORES}/svm.json"]
    assert not scores.exists()
    aside = Path("results/.changed", SCORES)
    assert sorted(path.name for path in aside.iterdir()) == [".snakemake_timestamp", "lda.json"]


def test_what_was_set_aside_first_gives_way_to_what_changes_next(scores):
    for change in ("first", "second"):
        write_json(scores / "svm.json", {"gmean": change})
        assert set_changed_aside() == [f"{SCORES}/svm.json"]
        assert read_json(Path("results/.changed", SCORES, "svm.json")) == {"gmean": change}
        shutil.copytree(Path("results/.changed", SCORES), scores)


def test_a_file_that_was_put_into_a_folder_changes_nothing(scores):
    (scores / "notes.txt").write_text("mine")
    assert changed_files() == []


def test_a_damaged_note_says_nothing(written):
    note_of(LOG).write_text("{")
    written["json"].write_text("{}")
    assert changed_files() == []
    assert not note_of(LOG).exists()


JOB = """
import sys
from entrolab.jobs.job_logging import job_log
from entrolab.io.records import write_json

log, record, succeeds = sys.argv[1:]
with job_log(log, "train", [record]):
    write_json(record, {"success": bool(succeeds)})
    if not succeeds:
        raise ValueError("no more than that")
"""


def test_a_job_notes_what_it_wrote_once_it_has_written_all():
    for succeeds in (True, False):
        done = subprocess.run([sys.executable, "-c", JOB, LOG, RECORD, "yes" * succeeds], check=False)
        assert (done.returncode == 0) is succeeds
        assert note_of(LOG).exists() is succeeds
        assert changed_files() == []


def test_files_of_the_future_are_of_the_present(written, scores):
    tomorrow = time.time() + 86400
    moved = [written["npz"], scores / ".snakemake_timestamp"]
    for path in moved:
        os.utime(path, (tomorrow, tomorrow))
    before = written["json"].stat().st_mtime_ns
    write_note(note_of("logs/two.log"), map(str, written.values()))
    end_future()
    assert all(path.stat().st_mtime <= time.time() for path in moved)
    assert written["json"].stat().st_mtime_ns == before


@pytest.mark.fault("Disk", "a reader meets a damaged file", "named: delete it and run again")
def test_whatever_bit_is_flipped_a_parquet_file_is_whole_or_named(tmp_path):
    """Its pages have checksums; its footer has none, and what that holds is the note's to notice."""
    path = tmp_path / "scores.parquet"
    table = pd.DataFrame({"fold": np.arange(50), "gmean": np.linspace(0, 1, 50)})
    write_frame(path, table)
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for bit in range(0, 8 * footer, 41):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            pd.testing.assert_frame_equal(read_frame(path), table)
        except ValueError as error:
            assert str(error).startswith(f"{path}: not a complete parquet file")  # noqa: PT017  one or the other
