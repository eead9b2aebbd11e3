"""Visual separability: accuracy of several classifiers on a projection."""

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

#: A classifier and its parameter grid.
Tunable = tuple[ClassifierMixin, Mapping[str, Sequence]]


def separability_classifiers(n_samples: int, n_features: int = 2) -> dict[str, Tunable]:
    """The three classifiers that evaluate a projection, with their parameter grids.

    Parameters
    ----------
    n_samples : int
        Smallest number of training rows; upper bound of the number of neighbours.
    n_features : int, default=2
        Dimension of the projection, by which the kernel's gamma is scaled.

    Returns
    -------
    dict of str to (classifier, grid)
        "svm", a support vector machine with a Gaussian kernel and balanced class weights on standardised
        columns; "knn", nearest neighbours; "kde", :class:`~entrolearn.KDEClassifier`. The grids have the
        format of :class:`sklearn.model_selection.GridSearchCV`.

    Notes
    -----
    The paper names the three classifiers, and states that their parameters are selected by an internal
    cross-validation, but it gives no grids.

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
    """Mean balanced accuracy of several classifiers on a projection.

    The balanced accuracy of each classifier is computed in a stratified cross-validation of the projected
    rows, and averaged over folds and classifiers. Parameters are selected by an inner cross-validation on the
    other folds, so that no row is in the training set of the model that predicts it. However, the projection
    may have been fitted to all rows: the score measures how separated the classes look in the plot, not the
    accuracy on new rows.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        The projected rows.
    y : array-like of shape (n_samples,)
        Class labels of any type, at least two different ones.
    classifiers : mapping of str to (classifier, grid), optional
        The classifiers and their grids, in the format of :class:`sklearn.model_selection.GridSearchCV`.
        Default: :func:`separability_classifiers`.
    cv : int, default=5
        Number of folds, at least 3. The inner cross-validation uses all folds but the test fold.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffled folds, which are the same for all classifiers.

    Returns
    -------
    float
        At most 1; about 1 / n_classes for random labels.

    Raises
    ------
    ValueError
        If y has only one class, a class has fewer rows than there are folds, or there are no classifiers.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5 (visual separability).

    Examples
    --------
    >>> from entrolearn.manifold import ClassPCA
    >>> from entrolearn.metrics import visual_separability
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Z = ClassPCA().fit_transform(X, y)
    >>> round(visual_separability(Z, y, cv=3, random_state=0), 1)
    0.9
    """
    scores = separability_scores(Z, y, classifiers=classifiers, cv=cv, random_state=random_state)
    return float(np.mean([unseen for unseen, _ in scores.values()]))


def separability_scores(
    Z, y, *, classifiers: Mapping[str, Tunable] | None = None, cv: int = 5, random_state=None
) -> dict[str, tuple[float, float]]:
    """Scores of each classifier of :func:`visual_separability`, on test rows and on training rows.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        The projected rows.
    y : array-like of shape (n_samples,)
        Class labels of any type, at least two different ones.
    classifiers : mapping of str to (classifier, grid), optional
        The classifiers and their grids. Default: :func:`separability_classifiers`.
    cv : int, default=5
        Number of folds, at least 3.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffled folds.

    Returns
    -------
    dict of str to (float, float)
        For each classifier, the mean balanced accuracy of the selected models on the test rows and on their
        training rows.

    Raises
    ------
    ValueError
        For the same reasons as in :func:`visual_separability`, and if a candidate cannot be fitted.

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
    """Mean scores of the selected models on the test rows and on the training rows, over the folds.

    The model without folds i and j is an inner fit of both: its score on j is used in the selection for i.
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
    """Balanced accuracy (mean recall of the classes) on some rows that contain all classes."""
    right, rows_of = point.prediction[rows] == y[rows], y[rows]
    return float(np.mean([right[rows_of == label].mean() for label in np.unique(rows_of)]))


def _check_folds(y: np.ndarray, cv: int) -> int:
    """Smallest number of rows outside two folds; raise if a fold cannot contain all classes."""
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
