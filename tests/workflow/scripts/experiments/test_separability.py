"""Visual separability: a naive twin, subsets, and rows for what fails."""

from functools import partial

import numpy as np
import pytest
from measured_scripts import measured, script, two_classes
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from entrolab.fit.learners import seed_from
from entrolearn.metrics import separability_scores

STEPS = {
    "lda": [{"estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"}],
    "pca": [{"estimator": "sklearn.decomposition.PCA", "params": {"n_components": 2}}],
}
GRIDS = {"lda": {"grid": {}}, "pca": {"grid": {"step1__n_components": [1, 2]}}}


@pytest.fixture
def quick(monkeypatch):
    """One classifier that takes little time, in the place of the three."""
    classifiers = {"knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]})}
    scores = partial(separability_scores, classifiers=classifiers)
    monkeypatch.setattr(script("separability"), "separability_scores", scores)
    return scores


def separated(**changes):
    asked = {"steps": STEPS, "grids": GRIDS, "subsets": 2, **changes}
    return measured("separability", two_classes(80), **asked)


def test_separability_is_that_of_subsets_of_rows_that_were_projected_together(quick):
    """Naive twin: the projection of all rows, then each subset by itself."""
    data = two_classes(80)
    found = {(row["model"], row.get("reading", "")): row for row in separated()}
    learnt_from = script("separability").LEARNT
    assert [*found] == [
        ("lda", ""), ("lda", learnt_from), ("pca", ""), ("pca", learnt_from), ("pca", "oracle")
    ]  # fmt: skip
    seed = seed_from(0, "paper", "table1", "data")
    subsets = [*script("separability").subsets_of(data.y, 2, seed)]
    projections = {"lda": LinearDiscriminantAnalysis(), "pca": PCA(2, random_state=seed)}
    means = {}
    for name, projection in {**projections, "one": PCA(1, random_state=seed)}.items():
        Z = projection.fit_transform(data.X, data.y)
        parts = [quick(Z[rows], data.y[rows], random_state=k)["knn"] for k, rows in enumerate(subsets)]
        unseen, learnt = 100 * np.transpose(parts)
        means[name] = np.mean(unseen)
        if name in projections:
            assert found[name, ""]["value"] == pytest.approx(np.mean(unseen))
            assert found[name, ""]["std"] == pytest.approx(np.std(unseen, ddof=1))
            assert found[name, learnt_from]["value"] == pytest.approx(np.mean(learnt))
    assert found["pca", ""]["error"] == f"{means['one']:.1f} at n_components = 1"
    assert found["pca", "oracle"]["value"] == pytest.approx(max(means["pca"], means["one"]))


def test_subsets_hold_the_same_share_of_each_class_and_more_of_them_leave_the_first_alone():
    y = np.array([0] * 40 + [1] * 8)
    few, more = (list(script("separability").subsets_of(y, n, seed=3)) for n in (2, 5))
    for rows in more:
        assert np.bincount(y[rows]).tolist() == [32, 6]
        assert (np.diff(rows) > 0).all()
    assert all(np.array_equal(*pair) for pair in zip(few, more, strict=False))
    assert len({tuple(rows) for rows in more}) == 5
