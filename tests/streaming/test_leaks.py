"""What sums over rows give away: attacks on them, whose numbers docs/federated.md has."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import minmax_scale

from entrolearn import EEMClassifier, ELMRegressor, streaming

X, y = load_breast_cancer(return_X_y=True)
X = minmax_scale(X)
UNITS = {"bounds": (0, 1), "random_state": 0}


def file_of(tmp_path, site) -> dict:
    """All that an attacker has: the arrays of the file, and the hidden units that everyone knows."""
    streaming.save_sums(site, tmp_path / "sums.npz")
    with np.load(tmp_path / "sums.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files if name != "about.json"}


def row_behind(layer, hidden: np.ndarray) -> np.ndarray:
    """The row that units exp(-b ||w - z||²) map to `hidden`: their logarithms are linear in z and ||z||²."""
    usable = hidden > 1e-4  # of the others the sums leave too few digits
    distances = -np.log(hidden[usable]) / layer.biases[usable]
    weights = layer.weights[usable]
    system = np.column_stack([-2 * weights, np.ones(len(weights))])
    solution = np.linalg.lstsq(system, distances - (weights**2).sum(axis=1), rcond=None)[0]
    return solution[:-1]


@pytest.mark.parametrize("n_hidden", [50, 250, 1000])
def test_two_files_that_differ_by_one_row_give_the_row_away(tmp_path, n_hidden):
    site = EEMClassifier(n_hidden, store_sums=True, **UNITS).fit(X[:-1], y[:-1])
    before = file_of(tmp_path, site)
    after = file_of(tmp_path, site.partial_fit(X[-1:], y[-1:]))
    change = [after[f"{c}_sum"] - before[f"{c}_sum"] for c in (0, 1)]
    label = int(np.abs(change[1]).max() > 0)
    assert label == y[-1]
    found = row_behind(site._layer, change[label] + before[f"{label}_shift"])
    assert_allclose(found, X[-1], atol=1e-7)


def test_a_class_of_one_or_two_rows_is_in_the_file_as_it_is(tmp_path):
    site = EEMClassifier(100, store_sums=True, min_class_size=0, **UNITS)
    for rows in (np.flatnonzero(y == 0)[:1], np.flatnonzero(y == 0)[:2]):
        kept = np.concatenate([rows, np.flatnonzero(y == 1)])
        file = file_of(tmp_path, site.fit(X[kept], y[kept]))
        mean = file["0_shift"] + file["0_sum"] / len(rows)
        scatter = np.zeros((100, 100))
        scatter.T[np.triu_indices(100)] = file["0_outer"]
        scatter -= np.tril(np.outer(file["0_sum"], file["0_sum"])) / len(rows)
        half = np.linalg.eigh(scatter, UPLO="L")[1][:, -1] * np.sqrt(np.trace(scatter) / 2)
        signs = (0,) if len(rows) == 1 else (1, -1)
        found = np.array(sorted(row_behind(site._layer, mean + sign * half).tolist() for sign in signs))
        assert_allclose(found, np.array(sorted(X[rows].tolist())), atol=1e-5)


def membership(n_rows: int, n_hidden: int) -> float:
    """AUC of guessing from one file whether a row was among n_rows, by its leverage on their moments."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(n_rows + 300, 10))
    site = ELMRegressor(n_hidden, alpha=1.0, fit_intercept=False, store_sums=True, **UNITS)
    site.fit(rows[:n_rows], rows[:n_rows, 0])
    spectrum = site._stream[0].spectrum()
    asked = np.concatenate([rows[: min(n_rows, 300)], rows[n_rows:]])
    along = site._layer(asked) @ spectrum.vectors
    kept = spectrum.values > 1e-12 * spectrum.values[-1]
    outside = (along[:, ~kept] ** 2).sum(axis=1)
    leverage = (along[:, kept] ** 2 / spectrum.values[kept]).sum(axis=1)
    return roc_auc_score(np.arange(len(asked)) < min(n_rows, 300), -leverage - 1e12 * outside)


@pytest.mark.parametrize(("n_rows", "auc"), [(25, 1.0), (50, 1.0), (100, 0.85), (200, 0.64), (1000, 0.53)])
def test_membership_shows_while_there_are_few_more_rows_than_units(n_rows, auc):
    assert membership(n_rows, 50) == pytest.approx(auc, abs=0.05)
