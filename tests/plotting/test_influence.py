"""The rows that move a machine most: which bars there are, and how long."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn import EEMClassifier, ELMRegressor, influence
from entrolearn.plotting import InfluenceDisplay


@pytest.fixture(scope="module")
def kept(moons):
    return EEMClassifier(20, keep_sums=True, random_state=0).fit(*moons)


def bars(display):
    """Lengths of the bars from the top, and what they are called."""
    ax = display.plot().ax_
    found = sorted(ax.patches, key=lambda bar: -bar.get_y())
    ticks = dict(zip(ax.get_yticks(), (label.get_text() for label in ax.get_yticklabels()), strict=True))
    return [bar.get_width() for bar in found], [ticks[max(ticks)], ticks[min(ticks)]]


def test_bars_are_the_largest_changes_of_the_threshold(moons, kept):
    change = influence(kept, *moons).threshold_change
    lengths, (first, last) = bars(InfluenceDisplay.from_estimator(kept, *moons, n_shown=5))
    order = np.argsort(-np.abs(change))[:5]
    assert_allclose(lengths, change[order])
    assert (first, last) == (str(order[0]), str(order[4]))


def test_lists_give_the_bars_of_arrays(moons, kept):
    X, y = moons
    drawn, expected = (
        InfluenceDisplay.from_estimator(kept, *rows) for rows in ((X.tolist(), y.tolist()), moons)
    )
    assert drawn.summary() == expected.summary()
    assert bars(drawn) == bars(expected)


def test_a_table_through_a_pipeline_and_groups(moons):
    X, y = pd.DataFrame(moons[0], index=[f"row {i}" for i in range(200)]), moons[1]
    pipeline = make_pipeline(StandardScaler(), EEMClassifier(20, keep_sums=True, random_state=0)).fit(X, y)
    _, (first, _) = bars(InfluenceDisplay.from_estimator(pipeline, X, y))
    assert first.startswith("row ")
    display = InfluenceDisplay.from_estimator(pipeline, X, y, groups=np.arange(200) % 3)
    assert display.codes is None
    lengths, _ = bars(display)
    assert len(lengths) == 3


def test_values_and_models_that_are_missing(moons):
    machine = ELMRegressor(10, C=0.1, keep_sums=True, random_state=0).fit(moons[0], moons[0])
    display = InfluenceDisplay.from_estimator(machine, moons[0], moons[0])
    assert_allclose(np.abs(display.change), np.abs(influence(machine, *moons[:1] * 2).change).max(axis=1))
    lengths, _ = bars(InfluenceDisplay(["a", "b"], [np.nan, -1.0]))
    assert lengths == [-1.0]
