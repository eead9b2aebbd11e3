"""Atomic writes: a file is the earlier one or the whole new one; without room, the message has the remedy."""

import errno

import pytest

from entrolab.io.atomic import DiskFull, replacing


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
    with pytest.raises(DiskFull, match=line), replacing(path) as temporary:
        temporary.write_text("half")
        raise OSError(number, "said by the system")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["earlier"]


def test_other_errors_pass_and_leave_the_earlier_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("earlier")
    with pytest.raises(KeyError), replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyError
    assert [one.read_text() for one in tmp_path.iterdir()] == ["earlier"]
