"""A chunk is read while the one before is worked on."""

import threading

import numpy as np
import pytest

from entrolearn.streaming.base import read_ahead


def test_the_chunks_are_the_same_in_the_same_order():
    chunks = [(np.full(2, i), None) for i in range(7)]
    assert [X[0] for X, _ in read_ahead(iter(chunks))] == list(range(7))
    assert list(read_ahead(iter(()))) == []


def test_the_next_chunk_is_read_before_it_is_asked_for_and_no_other():
    read, second = [], threading.Event()

    def chunks():
        for i in range(4):
            read.append(i)
            if i == 1:
                second.set()
            yield (i, None)

    ahead = read_ahead(chunks())
    assert next(ahead) == (0, None)
    assert second.wait(timeout=60)
    assert read == [0, 1]
    ahead.close()


def test_an_error_comes_where_its_chunk_would():
    def chunks():
        yield (0, None)
        raise ValueError("no more")

    ahead = read_ahead(chunks())
    assert next(ahead) == (0, None)
    with pytest.raises(ValueError, match="no more"):
        next(ahead)


def test_the_reader_ends_with_who_asked():
    ahead = read_ahead((i, None) for i in range(1000))
    next(ahead)
    ahead.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("read_ahead")]
