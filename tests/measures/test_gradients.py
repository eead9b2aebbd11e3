"""The average gradient outer product against its definition; chunks add up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from entrolearn import EEMClassifier, streaming
from entrolearn.measures import average_gradient_outer_product

G = np.random.default_rng(0).normal(size=(50, 3, 4))


def test_it_is_the_mean_of_outer_products_and_chunks_add_up():
    expected = np.mean([sum(np.outer(g, g) for g in row) for row in G], axis=0)
    assert_allclose(average_gradient_outer_product(G), expected, rtol=1e-12)
    chunks = lambda: (G[start : start + 7] for start in range(0, 50, 7))  # noqa: E731
    assert_allclose(average_gradient_outer_product(chunks()), expected, rtol=1e-12)
    for gradients in (G, chunks()):
        found = average_gradient_outer_product(gradients, diagonal=True)
        assert_allclose(found, np.diag(expected), rtol=1e-12)
    for rows in (G, G[:, 0]):  # lists of numbers are one array, lists of arrays are chunks
        matrix = average_gradient_outer_product(rows)
        assert_allclose(average_gradient_outer_product(rows.tolist()), matrix, rtol=1e-12)
        for chunks in (np.split(rows, 2), tuple(np.split(rows, [7, 9]))):
            assert_allclose(average_gradient_outer_product(chunks), matrix, rtol=1e-12)


def test_a_row_of_weight_two_is_two_rows_and_chunks_take_their_weights():
    weights = np.random.default_rng(2).integers(0, 4, 50)
    expected = average_gradient_outer_product(np.repeat(G, weights, axis=0))
    for gradients in (G, iter(np.array_split(G, 4))):
        found = average_gradient_outer_product(gradients, sample_weight=weights)
        assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="holds 50 numbers, but there are 30 gradients"):
        average_gradient_outer_product(iter([G[:30]]), sample_weight=weights)


def test_it_is_a_sum_over_a_stream():
    X = np.random.default_rng(1).normal(size=(90, 4))
    machine = EEMClassifier(20, random_state=0).fit(X, X[:, 0] > X[:, 1])
    rows = streaming.rows(X, chunk_rows=40)
    found = average_gradient_outer_product(streaming.predict_chunks(machine, rows, method="input_gradient"))
    assert_allclose(found, average_gradient_outer_product(machine.input_gradient(X)), rtol=1e-10)


@pytest.mark.parametrize(
    ("gradients", "found"),
    [(np.ones(3), "1 dimensions"), (np.empty((0, 3)), "no rows"), (np.full((2, 2), np.inf), "not finite")],
)
def test_what_is_no_gradient_is_refused(gradients, found):
    with pytest.raises(ValueError, match=found):
        average_gradient_outer_product(gradients)
