"""Measure the visual separability of the classes in projections."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from sklearn.base import clone

from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import mean_and_std, of_each_model
from entrolab.experiments.separability import LEARNT
from entrolab.fit.learners import build_steps, expand_grid, seed_from
from entrolearn.metrics import separability_scores


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Project all rows by each model's steps, and score random subsets of the projected rows.

    `spec` has the ``models``: the ``steps`` of each, and the ``grid`` of their parameters; the number of
    ``subsets`` and the ``share`` of the rows in each. All models are scored on the same subsets.

    Each model has the mean over the subsets and its standard deviation with the steps' own parameters, and by
    other readings: with each point of their grid; on the rows that the classifiers were fitted on. A model
    that fails is a row with the reason. See Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold,
    section 5.
    """
    data = load("scaled")
    seed = seed_from(spec.seed, spec.study, spec.table, spec.dataset)
    subsets = list(subsets_of(data.y, spec.subsets, spec.share, seed))
    return of_each_model(lambda name, model: _of_model(data, model, subsets, seed), spec, progress)


def _of_model(data, model: Mapping, subsets: Sequence[np.ndarray], seed: int) -> list[dict]:
    steps = build_steps(model, seed)
    known = steps.get_params()
    others = [
        point for point in expand_grid(model["grid"]) if any(known[name] != point[name] for name in point)
    ]
    rows = []
    for point in [{}, *others]:
        projected = clone(steps).set_params(**point).fit_transform(data.X, data.y)
        scores = [
            np.mean(
                list(separability_scores(projected[drawn], data.y[drawn], random_state=number).values()),
                axis=0,
            )
            for number, drawn in enumerate(subsets)
        ]
        unseen, learnt = np.transpose(scores)
        rows.append({"reading": in_words(point), **mean_and_std(unseen)})
        if not point:
            rows.append({"reading": LEARNT, **mean_and_std(learnt)})
    return [{"metric": "separability", **row} for row in rows]


def in_words(point: Mapping) -> str:
    """The description of a grid point of steps in a footnote; empty for the steps' own parameters.

    Examples
    --------
    >>> in_words({"step1__bandwidth_scale": 0.5})
    'bandwidth_scale = 0.5'
    """
    return ", ".join(f"{name.split('__', 1)[1]} = {value}" for name, value in point.items())


def subsets_of(y: np.ndarray, n_subsets: int, share: float, seed: int) -> Iterator[np.ndarray]:
    """Yield the rows of random subsets without replacement, with the same share of each class.

    The first subsets do not depend on their number.
    """
    for child in np.random.SeedSequence(seed).spawn(n_subsets):
        rng = np.random.default_rng(child)
        classes = [np.flatnonzero(y == label) for label in np.unique(y)]
        taken = [rng.choice(rows, round(share * len(rows)), replace=False) for rows in classes]
        yield np.sort(np.concatenate(taken))
