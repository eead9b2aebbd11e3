"""Visual separability of the classes in projections (MELM paper, Table 3).

See Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold for Learning Discriminative
Low-Dimensional Representation (2015), section 5.
"""

import numpy as np
from sklearn.base import clone

from entrolab.experiments.measuring import mean_and_std, of_each_model
from entrolab.fit.learners import build_steps, expand_grid, seed_from
from entrolearn.metrics import separability_scores

# The reading of scores on the rows that the classifiers were fitted on.
LEARNT = "the rows learnt from"
PERCENT = 100.0
SHARE = 0.8  # of the rows of each class in a subset


def measure(rows, at, steps, grids, *, subsets: int = 5):
    """Project all rows by each model's steps, and score random subsets of the projected rows, in percent.

    All models are scored on the same `subsets`, each with a `SHARE` of the rows. Each model has the mean and
    the standard deviation with the steps' own parameters; the other points of the steps' grid are a footnote,
    and the best of all points is the oracle. Another reading are scores on the rows that the classifiers were
    fitted on.
    """
    data = rows.scaled
    seed = seed_from(at.seed, at.study, at.table, at.dataset)
    drawn = list(subsets_of(data.y, subsets, seed))

    def of_model(name, own):
        projection = build_steps({"estimator": None, "steps": own}, seed)
        known = projection.get_params()
        points = expand_grid(grids[name]["grid"])
        others = [point for point in points if any(known[key] != point[key] for key in point)]
        unseen, learnt = scores(projection, {}, data, drawn)
        found = {in_words(point): scores(projection, point, data, drawn)[0].mean() for point in others}
        best = {"reading": "oracle", "value": max([unseen.mean(), *found.values()])}
        note = ", ".join(f"{value:.1f} at {point}" for point, value in found.items())
        own = [{**mean_and_std(unseen), "error": note}, {"reading": LEARNT, "value": learnt.mean()}]
        return [{"metric": "separability", **row} for row in own + ([best] if found else [])]

    return of_each_model(of_model, steps, at.progress)


def scores(projection, point, data, subsets):
    """The mean scores of three classifiers on each subset: on unseen rows, and on those fitted on."""
    projected = clone(projection).set_params(**point).fit_transform(data.X, data.y)
    found = [
        np.mean(list(separability_scores(projected[one], data.y[one], random_state=k).values()), axis=0)
        for k, one in enumerate(subsets)
    ]
    return PERCENT * np.transpose(found)


def in_words(point):
    """The description of a grid point of steps in a footnote.

    Examples
    --------
    >>> in_words({"step1__bandwidth_scale": 0.5})
    'bandwidth_scale = 0.5'
    """
    return ", ".join(f"{name.split('__', 1)[1]} = {value}" for name, value in point.items())


def subsets_of(y, n_subsets, seed):
    """Yield the rows of random subsets without replacement, with the same share of each class.

    The first subsets do not depend on their number.
    """
    for child in np.random.SeedSequence(seed).spawn(n_subsets):
        rng = np.random.default_rng(child)
        classes = [np.flatnonzero(y == label) for label in np.unique(y)]
        taken = [rng.choice(rows, round(SHARE * len(rows)), replace=False) for rows in classes]
        yield np.sort(np.concatenate(taken))
