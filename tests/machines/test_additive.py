"""Streams that are given wrong chunks: one line, and the stream goes on as if nothing had been."""

import numpy as np
import pytest
from sklearn.base import clone

from entrolearn import EEMClassifier, ELMClassifier, ELMRegressor, RKELMClassifier, RKELMRegressor

X = np.random.default_rng(0).uniform(0.1, 1, size=(12, 3))
X[::2, 0] += 1
y = np.arange(12) % 2  # a label, or a value

STREAMS = [EEMClassifier(10, random_state=0), ELMClassifier(10, random_state=0)]
STREAMS += [RKELMClassifier(5, random_state=0)]
WRONG_CHUNKS = {
    "a label that was not announced": (lambda s: s.partial_fit(X, y + 1), "holds the label 2, .* not among"),
    "a chunk of another width": (lambda s: s.partial_fit(X[:, 1:], y), "X has 2 features, .* expecting 3"),
    "other classes than at first": (
        lambda s: s.partial_fit(X, y, classes=[0, 2]),
        "`classes=.*` is not the same as on last call",
    ),
    "NaN in a chunk": (lambda s: s.partial_fit(X * np.nan, y), "X contains NaN"),
    "1e300 in a chunk": (lambda s: s.partial_fit(X * 1e300, y), r"X holds .*e\+300"),
    "an empty chunk": (lambda s: s.partial_fit(X[:0], y[:0]), r"0 sample\(s\)"),
    "a chunk with fewer labels than rows": (lambda s: s.partial_fit(X, y[:3]), "inconsistent numbers of"),
}


def of_each_stream(cases, outcome):
    """Every case with every stream, a line of the table for each case."""
    return pytest.mark.parametrize(
        ("stream", "case"),
        [
            pytest.param(
                stream,
                case,
                id=f"{case}: {type(stream).__name__}",
                marks=pytest.mark.fault("Arrays", case, outcome),
            )
            for case in cases
            for stream in STREAMS
        ],
    )


@of_each_stream(WRONG_CHUNKS, "refused, the stream goes on")
def test_a_wrong_chunk_is_refused_and_the_stream_goes_on(stream, case):
    spoil, says = WRONG_CHUNKS[case]
    undisturbed, disturbed = (clone(stream).partial_fit(X[:8], y[:8], classes=[0, 1]) for _ in range(2))
    with pytest.raises(ValueError, match=says):
        spoil(disturbed)
    expected = undisturbed.partial_fit(X[8:], y[8:]).decision_function(X)
    np.testing.assert_array_equal(disturbed.partial_fit(X[8:], y[8:]).decision_function(X), expected)


WRONG_BEGINNINGS = {
    "a stream without its classes": (None, "classes must be passed on the first call"),
    "a stream of one class": ([0], "at least two classes|only one class"),
}


@of_each_stream(WRONG_BEGINNINGS, "refused in one line")
def test_a_stream_must_know_its_classes(stream, case):
    classes, says = WRONG_BEGINNINGS[case]
    with pytest.raises(ValueError, match=says):
        clone(stream).partial_fit(X[::2], y[::2], classes=classes)


@pytest.mark.fault("Arrays", "another number of outputs than at first", "refused in one line")
@pytest.mark.parametrize("machine", [ELMRegressor, RKELMRegressor])
def test_a_stream_keeps_its_outputs(machine):
    stream = machine(5, random_state=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="y has 2 outputs .* had 1"):
        stream.partial_fit(X, np.column_stack([y, y]))
