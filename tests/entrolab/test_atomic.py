"""Atomic writes: a file is the earlier one or the whole new one; without room, the message has the remedy."""

import errno
from pathlib import Path

import pytest

from entrolab.io.atomic import DiskFull, replacing


def write_half(path: Path, error: BaseException) -> None:
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise error


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (errno.ENOSPC, "the disk is full: no room for .*{}table.csv; free some space and run again"),
        (errno.EDQUOT, "your disk quota is used up: no room for .*; delete some files and run again"),
        (errno.EFBIG, "`ulimit -f` allows no larger file: no room for .*; raise the limit and run again"),
    ],
)
def test_without_room_the_earlier_file_stays_and_the_line_has_the_remedy(tmp_path, number, line):
    path = tmp_path / "{}table.csv"
    path.write_text("earlier")
    with pytest.raises(DiskFull, match=line):
        write_half(path, OSError(number, "said by the system"))
    assert [one.read_text() for one in tmp_path.iterdir()] == ["earlier"]


def test_other_errors_pass_and_leave_the_earlier_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("earlier")
    with pytest.raises(KeyError):
        write_half(path, KeyError())
    assert [one.read_text() for one in tmp_path.iterdir()] == ["earlier"]
