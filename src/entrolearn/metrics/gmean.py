"""The geometric mean of the classes' recalls."""

import numpy as np
from scipy.stats import gmean
from sklearn.metrics import make_scorer, recall_score
from sklearn.utils.multiclass import type_of_target

from entrolearn.user_warnings import warn_user

__all__ = ["gmean_score", "gmean_scorer"]


def gmean_score(y_true, y_pred, *, labels=None) -> float:
    r"""Geometric mean of the recalls of all classes.

    For two classes :math:`\sqrt{\frac{TP}{TP+FN} \cdot \frac{TN}{TN+FP}}`, for K classes the K-th root of the
    product of their recalls. Unlike accuracy it does not depend on how frequent the classes are.

    Parameters
    ----------
    y_true : array-like, shape (n_samples,)
        The true labels.
    y_pred : array-like, shape (n_samples,)
        The predicted labels.
    labels : array-like, optional
        The classes whose recalls are averaged. Default: the classes in `y_true`.

    Returns
    -------
    float
        A value between 0 (some class has recall 0) and 1.

    Raises
    ------
    ValueError
        If the labels are not class labels, or none of `labels` occurs in `y_true`.

    Warns
    -----
    UserWarning
        If a class does not occur in `y_true` and so has no recall: it is ignored, as in
        :func:`sklearn.metrics.balanced_accuracy_score`.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, footnote 7.

    Examples
    --------
    >>> from entrolearn.metrics import gmean_score
    >>> round(gmean_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]), 4)
    0.6124
    """
    kind = type_of_target(y_true, input_name="y_true")
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"y_true is {kind}; gmean_score takes binary or multiclass labels")
    present = np.unique(y_true)
    wanted = np.union1d(present, np.unique(y_pred)) if labels is None else np.unique(labels)
    scored = wanted[np.isin(wanted, present)]
    if scored.size == 0:
        raise ValueError(
            f"none of the labels {wanted.tolist()} occurs in y_true, which has {present.tolist()}"
        )
    if scored.size < wanted.size:
        absent = wanted[~np.isin(wanted, present)].tolist()
        warn_user(f"classes {absent} do not occur in y_true and are left out")
    return float(gmean(recall_score(y_true, y_pred, labels=scored, average=None)))


gmean_scorer = make_scorer(gmean_score)
"""Scorer of :func:`gmean_score`, for ``cross_val_score``, ``GridSearchCV`` and similar functions."""
