"""How far a pass is, of chunks of any kind, without changing them."""

import numpy as np
import pytest
from scipy import sparse

from entrolearn.streaming.progress import shown

CHUNKS = [np.zeros((n, 2)) for n in (3, 4, 1)]


@pytest.mark.parametrize(
    "chunks",
    [CHUNKS, [(X, None) for X in CHUNKS], [X[:, 0] for X in CHUNKS], [sparse.csr_array(X) for X in CHUNKS]],
    ids=["rows", "pairs", "targets", "csr"],
)
@pytest.mark.parametrize("progress", [False, True, lambda done, of: None], ids=["nothing", "bar", "function"])
def test_chunks_are_handed_on_as_they_are(chunks, progress):
    for given, handed in zip(chunks, shown(chunks, progress, 8, "reading"), strict=True):
        assert handed is given


def test_a_chunk_is_done_when_the_next_one_is_asked_for():
    told = []
    pass_ = shown(CHUNKS, lambda *far: told.append(far), 8, "reading")
    assert told == []
    next(pass_)
    assert told == []
    next(pass_)
    assert told == [(3, 8)]
    assert len(list(pass_)) == 1
    assert told == [(3, 8), (7, 8), (8, 8)]


def test_a_bar_is_closed_where_the_work_fails(capsys):
    def work():
        for _ in shown(CHUNKS, True, None, "reading"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert capsys.readouterr().err.endswith("\n")
