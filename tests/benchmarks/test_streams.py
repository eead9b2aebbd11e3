"""Rows on disk beside rows in memory, on few rows: what is computed beside the seconds is right."""

import numpy as np
import pytest

from benchmarks import streams
from entrolab.io.limits import Limits
from entrolearn import EEMClassifier

LIMITS = Limits(seconds=60)


def test_every_source_is_beside_memory_and_the_files_are_gone():
    table = streams.streams(
        LIMITS, n_samples=3000, n_fewer=1000, n_features=4, n_hidden=10, repetitions=1
    ).table
    of_fewer = ["memory", ".npy", "Parquet", "Zarr", "iterator"]
    expected = [(1000, source) for source in of_fewer] + [(3000, "memory"), (3000, ".npy")]
    assert table.index.tolist() == expected
    fits = table["fit s"].xs(1000)
    assert table.loc[(1000, ".npy"), "fit rate %"] == pytest.approx(100 * fits["memory"] / fits[".npy"])
    assert (table["peak MiB"] > 10).all()
    assert not list(streams.FOLDER.iterdir())


def test_all_files_have_the_same_rows(tmp_path):
    streams.write(tmp_path, 700, 3, several=True)
    X, y = np.load(tmp_path / "X.npy"), np.load(tmp_path / "y.npy")
    assert X.dtype == np.float32
    assert 0.3 < y.mean() < 0.7
    for open_rows in streams.sources(tmp_path).values():
        chunks = list(open_rows())
        np.testing.assert_array_equal(np.concatenate([chunk for chunk, _ in chunks]), X)
        np.testing.assert_array_equal(np.concatenate([of_chunk for _, of_chunk in chunks]), y)


def test_answers_after_few_rows_are_those_of_a_fit_in_memory():
    X, y = streams.uniform(600, 4, np.float32)
    said = streams.answers_after(600, X, 10)
    np.testing.assert_array_equal(said, EEMClassifier(10, random_state=0).fit(X, y).predict(X))


def test_more_rows_come_nearer_to_the_last_machine():
    table = streams.enough(LIMITS, n_samples=(100, 10_000, 20_000), n_features=4, n_hidden=10).table
    assert table["other answers %"].iloc[-1] == 0
    assert table["other answers %"].iloc[0] > table["other answers %"].iloc[1]
    assert table.loc[100, "rows / h"] == 10
