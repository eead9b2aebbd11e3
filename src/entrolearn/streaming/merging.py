"""Merge models that several sites fitted to their own rows, and the bounds of their features."""

from collections.abc import Iterable, Sequence
from functools import reduce
from numbers import Real

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_array

from entrolearn.machines.additive import Additive, solve, sums_over, with_sums
from entrolearn.machines.boxes import RandomUnits, Survey
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.sums import GroupSums
from entrolearn.streaming.agreement import check_agreement, check_sums, terms
from entrolearn.streaming.sampling import sample_of
from entrolearn.streaming.sources import rows

__all__ = ["bounds", "merge", "merge_bounds"]

IN_BOX = RandomUnits("streaming.bounds", 1, "data", RandomLayer.draw)


def bounds(X) -> np.ndarray:
    """The bounds of a site's features without outliers, as for ``feature_range="data"``.

    Parameters
    ----------
    X : Rows, what :func:`rows` takes, or a list of rows, each a list of numbers
        Rows of the site; read once, chunk by chunk.

    Returns
    -------
    ndarray of shape (2, n_features)
        Lower and upper bounds.

    Raises
    ------
    ValueError
        If there are no rows, or a chunk has values that are not finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import streaming
    >>> streaming.bounds(np.array([[0.0, 5.0], [1.0, 7.0], [2.0, 6.0]]))
    array([[0., 5.],
           [2., 7.]])
    """
    if isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple) and X[0]:
        X = check_array(X) if isinstance(X[0][0], Real) else X  # other lists hold chunks
    source = rows(X)
    sample, survey = sample_of(source.n_rows, IN_BOX.n_sampled, IN_BOX.sampler()), None
    for chunk, _ in source:
        chunk = check_array(chunk, accept_sparse="csr", dtype=[np.float64, np.float32])
        sample.offer(chunk)
        of_chunk = Survey.of_chunk(chunk, IN_BOX)
        survey = of_chunk if survey is None else survey.merge(of_chunk)
    if survey is None:
        raise ValueError("there are no rows to take bounds of.")
    return np.asarray(survey.with_sample(sample.rows).box)


def merge_bounds(boxes: Iterable) -> np.ndarray:
    """The bounds of all sites together, to be used as ``feature_range`` at each site.

    Parameters
    ----------
    boxes : iterable of array-like of shape (2, n_features)
        The result of :func:`bounds` at each site.

    Returns
    -------
    ndarray of shape (2, n_features)

    Raises
    ------
    ValueError
        If there are no boxes, their shapes differ, or bounds are not finite or low > high.

    Examples
    --------
    >>> from entrolearn import streaming
    >>> streaming.merge_bounds([[[0.0, 5.0], [2.0, 7.0]], [[-1.0, 6.0], [1.0, 6.5]]])
    array([[-1.,  5.],
           [ 2.,  7.]])
    """
    boxes = [_checked_box(i, box) for i, box in enumerate(boxes)]
    if not boxes:
        raise ValueError("there are no boxes to merge; accepted: one or more, each what bounds returned.")
    for i, box in enumerate(boxes):
        if box.shape != boxes[0].shape:
            raise ValueError(f"box {i} has shape {box.shape}; accepted: {boxes[0].shape}, as box 0 has.")
    return np.stack([np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)])


def _checked_box(i: int, box) -> np.ndarray:
    accepted = "accepted: (2, n_features) of finite numbers"
    try:
        box = np.asarray(box, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"box {i} is no array of numbers; {accepted}.") from None
    if box.ndim != 2 or len(box) != 2:
        raise ValueError(f"box {i} has shape {box.shape}; {accepted}.")
    if not np.isfinite(box).all() or (box[0] > box[1]).any():
        raise ValueError(f"box {i} holds no finite bounds, low <= high; {accepted}.")
    return box


def merge(estimators: Iterable):
    """Merge estimators that were fitted to disjoint sets of rows.

    Up to rounding, the result equals one fit to all rows with the same hidden units. It does not depend on
    the order of the estimators or on intermediate merges. Only the sums over rows of the estimators are used.

    Parameters
    ----------
    estimators : iterable of estimators
        One class, one set of parameters and the same hidden units: one `random_state` (a number) and one
        `feature_range` (see :func:`merge_bounds`), or the same landmarks. Each has its sums: fitted with
        ``keep_sums=True``, by ``partial_fit``, or from :func:`load_sums`. Their classes may differ. Or
        Dask's delayed estimators, which are merged where they are, a few at a time.

    Returns
    -------
    estimator : object
        A new estimator, which can be updated by ``partial_fit`` and merged again; the given estimators are
        not changed. A classifier has the classes of all estimators, and can predict if each class has a row.

    Raises
    ------
    TypeError
        If an estimator does not support sums.
    ValueError
        If an estimator has no sums, or differs from the first one; the message names the difference.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from entrolearn import EEMClassifier, streaming
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> box = streaming.merge_bounds([streaming.bounds(X[::2]), streaming.bounds(X[1::2])])
    >>> sites = [
    ...     EEMClassifier(50, feature_range=box, keep_sums=True, random_state=0).fit(X[i::2], y[i::2])
    ...     for i in (0, 1)
    ... ]
    >>> together = EEMClassifier(50, feature_range=box, random_state=0).fit(X, y)
    >>> gap = abs(streaming.merge(sites).decision_function(X) - together.decision_function(X))
    >>> bool(gap.max() < 1e-9)
    True
    """
    estimators = list(estimators)
    if not estimators:
        raise ValueError("there are no estimators to merge; accepted: one or more that have their sums.")
    if any(hasattr(each, "__dask_graph__") for each in estimators):
        from entrolearn.streaming.distributed import merge_delayed  # imports Dask

        return solve(merge_delayed(merge_sums, estimators))
    return solve(merge_sums(estimators))


def merge_sums(estimators: Sequence[Additive]) -> Additive:
    """A copy of the first estimator with the classes of all and the total sums, not solved."""
    for estimator in estimators:
        check_sums(estimator)
    first = terms(estimators[0])
    for i, estimator in enumerate(estimators[1:], 1):
        check_agreement(first, terms(estimator), f"estimator {i}")
    classes = None
    if is_classifier(estimators[0]):
        kinds = {estimator.classes_.dtype.kind in "biuf" for estimator in estimators}
        if len(kinds) > 1:
            raise ValueError("some estimators have numbers for classes and others words; accepted: one kind.")
        classes = reduce(np.union1d, [estimator.classes_ for estimator in estimators])
    total = GroupSums.total([sums_over(estimator, classes) for estimator in estimators])
    return with_sums(estimators[0], total, classes)
