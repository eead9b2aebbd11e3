"""How well several kinds of classifiers tell the classes of a projection apart."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from numbers import Integral

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from entrolearn.manifold.kde import KDEClassifier
from entrolearn.path import Partition, PathPoint, path, place
from entrolearn.validation import check_X_y

__all__ = ["separability_classifiers", "separability_scores", "visual_separability"]

#: A classifier, and the values of its parameters that are tried.
Tunable = tuple[ClassifierMixin, Mapping[str, Sequence]]


def separability_classifiers(n_samples: int, n_features: int = 2) -> dict[str, Tunable]:
    """The three classifiers that judge a projection, each with the grid that it is chosen from.

    Parameters
    ----------
    n_samples : int
        The least number of rows that one of them will be fitted to; no more neighbours are asked for.
    n_features : int, default=2
        Dimension of the projection; the widths of the Gaussian kernel go by it.

    Returns
    -------
    dict of str to (classifier, grid)
        "svm", a support vector machine with a Gaussian kernel and balanced classes on standardised columns;
        "knn", nearest neighbours; "kde", :class:`~entrolearn.KDEClassifier`. The grids are those that
        :class:`sklearn.model_selection.GridSearchCV` takes.

    Notes
    -----
    The paper names the three and says that their parameters come from an internal cross-validation; it has no
    grids.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5.

    Examples
    --------
    >>> from entrolearn.metrics import separability_classifiers
    >>> classifier, grid = separability_classifiers(n_samples=100)["kde"]
    >>> grid
    {'bandwidth_scale': [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]}
    """
    svm = make_pipeline(StandardScaler(), SVC(class_weight="balanced"))
    gammas = [gamma / n_features for gamma in (0.1, 1.0, 10.0, 100.0)]
    return {
        "svm": (svm, {"svc__C": [1.0, 10.0, 100.0], "svc__gamma": gammas}),
        "knn": (KNeighborsClassifier(), {"n_neighbors": [n for n in range(1, 26, 2) if n <= n_samples]}),
        "kde": (KDEClassifier(), {"bandwidth_scale": [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]}),
    }


def visual_separability(
    Z, y, *, classifiers: Mapping[str, Tunable] | None = None, cv: int = 5, random_state=None
) -> float:
    """How well several kinds of classifiers tell the classes apart in a projection.

    The balanced accuracy of each, in a stratified cross-validation of the projected rows, averaged over folds
    and classifiers. Inside each training fold, a cross-validation whose folds are the other ones chooses the
    classifier's parameters: no row is judged by a machine that has seen it. (Whatever found the projection
    may have seen them all: the score says how a picture looks, not how well new rows would be told apart.)

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        The projected rows.
    y : array-like of shape (n_samples,)
        Class labels of any type, at least two different ones.
    classifiers : mapping of str to (classifier, grid), optional
        Who judges, and the parameters that each chooses from, as
        :class:`sklearn.model_selection.GridSearchCV` takes them; :func:`separability_classifiers` unless
        given.
    cv : int, default=5
        Folds, 3 at least; all but the one that is tested are the folds of the inner cross-validation.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows into folds. All classifiers have the same ones.

    Returns
    -------
    float
        Up to 1; about one over the number of classes where the labels are at random.

    Raises
    ------
    ValueError
        If y holds one class only, or a class with fewer rows than folds, or there are no classifiers.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5 (visual separability).

    Examples
    --------
    >>> from entrolearn import ClassPCA, visual_separability
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Z = ClassPCA().fit_transform(X, y)
    >>> round(visual_separability(Z, y, random_state=0), 1)
    0.9
    """
    scores = separability_scores(Z, y, classifiers=classifiers, cv=cv, random_state=random_state)
    return float(np.mean([unseen for unseen, _ in scores.values()]))


def separability_scores(
    Z, y, *, classifiers: Mapping[str, Tunable] | None = None, cv: int = 5, random_state=None
) -> dict[str, tuple[float, float]]:
    """The parts of :func:`visual_separability`, and what they would be on rows that were learnt from.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        The projected rows.
    y : array-like of shape (n_samples,)
        Class labels of any type, at least two different ones.
    classifiers : mapping of str to (classifier, grid), optional
        Who judges; :func:`separability_classifiers` unless given.
    cv : int, default=5
        Folds, 3 at least.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows into folds.

    Returns
    -------
    dict of str to (float, float)
        For each classifier the mean balanced accuracy of the chosen machines on the rows left out, and on
        those that they were fitted on.

    Raises
    ------
    ValueError
        As :func:`visual_separability` does, and if no parameters of a classifier could be fitted.

    Examples
    --------
    >>> from entrolearn.metrics import separability_scores
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> nearest = {"nearest": (KNeighborsClassifier(1), {})}
    >>> Z, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 0, 1, 1, 1]
    >>> separability_scores(Z, y, classifiers=nearest, cv=3)["nearest"][1]
    1.0
    """
    if not isinstance(cv, Integral) or cv < 3:
        raise ValueError(f"cv is {cv!r}; it must be a number of folds, 3 or more")
    Z, y = check_X_y(Z, y, dtype=np.float64)
    n_left = _check_folds(y, cv)
    if classifiers is None:
        classifiers = separability_classifiers(n_left, Z.shape[1])
    if not classifiers:
        raise ValueError("classifiers is empty; it must hold one classifier with its grid, or more")
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    part = np.empty(len(y), dtype=int)
    for fold, (_, left_out) in enumerate(
        StratifiedKFold(cv, shuffle=True, random_state=int(seed)).split(Z, y)
    ):
        part[left_out] = fold
    return {
        name: _nested_scores(classifier, list(ParameterGrid(dict(grid))), Z, y, part)
        for name, (classifier, grid) in classifiers.items()
    }


def _nested_scores(classifier, grid: Sequence[dict], Z, y, part: np.ndarray) -> tuple[float, float]:
    """Mean scores of the chosen machines on the rows left out and on the others, over the folds.

    The machine without parts i and j is an inner one of both: scored on j it helps to choose for i.
    """
    inner, outer = defaultdict(list), {}
    for point in path(classifier, Z, y, Partition.cross_validation(part, nested=True), grid):
        if point.error:
            raise ValueError(f"{type(classifier).__name__} with {point.params}: {point.error}")
        where = place(point.params, grid)
        if len(point.left_out) == 1:
            rows = part == point.left_out[0]
            outer[point.left_out[0], where] = _recall(y, point, rows), _recall(y, point, ~rows)
        else:
            for fold, other in (point.left_out, point.left_out[::-1]):
                inner[fold, where].append(_recall(y, point, part == other))
    chosen = [
        outer[fold, max(range(len(grid)), key=lambda where: np.mean(inner[fold, where]))]
        for fold in np.unique(part)
    ]
    unseen, seen = np.mean(chosen, axis=0)
    return float(unseen), float(seen)


def _recall(y: np.ndarray, point: PathPoint, rows: np.ndarray) -> float:
    """Balanced accuracy, the mean of the classes' recalls, on some rows; all of their classes are there."""
    right, rows_of = point.prediction[rows] == y[rows], y[rows]
    return float(np.mean([right[rows_of == label].mean() for label in np.unique(rows_of)]))


def _check_folds(y: np.ndarray, cv: int) -> int:
    """The least number of rows outside two folds, each fold checked to hold all classes."""
    check_classification_targets(y)
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise ValueError(
            f"visual_separability needs at least two classes, got only one: {classes.tolist()[0]!r}"
        )
    if (counts < cv).any():
        fewest = counts.argmin()
        raise ValueError(
            f"class {classes.tolist()[fewest]!r} has {counts[fewest]} rows, too few for {cv} folds; "
            "take a smaller cv"
        )
    return int((counts - 2 * -(-counts // cv)).clip(1).sum())
