"""Information-theoretic evaluation of a classification that may reject rows, after Hu, He and Yuan.

T is the true class of a row and Y the prediction, which has the reject as one more value. The confusion
matrix divided by the number of rows is their joint distribution. The entropy H(T) is the baseline, the
maximum of the mutual information.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import rel_entr
from sklearn.metrics import make_scorer
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target, unique_labels

from entrolearn.measures import cross_entropy, entropy, kl_divergence
from entrolearn.measures.information import nats_per_unit

__all__ = [
    "information_scorer",
    "information_scores",
    "normalized_mutual_information_scorer",
    "reject_least_certain",
]

#: Measures to maximise, and measures to minimise.
SIMILARITIES = frozenset(
    {
        "correct_rate",
        "accuracy",
        "mutual_information",
        "normalized_mutual_information",
        "normalized_mutual_information_pred",
        "normalized_mutual_information_arithmetic",
        "normalized_mutual_information_geometric",
        "normalized_mutual_information_joint",
        "normalized_mutual_information_max",
        "normalized_mutual_information_min",
        "normalized_cross_entropy_true_pred",
        "normalized_cross_entropy_pred_true",
        "normalized_kl_true_pred",
        "normalized_kl_pred_true",
    }
)
DISSIMILARITIES = frozenset(
    {
        "error_rate",
        "reject_rate",
        "conditional_entropy_true",
        "conditional_entropy_pred",
        "cross_entropy_true_pred",
        "cross_entropy_pred_true",
        "kl_true_pred",
        "kl_pred_true",
    }
)


def information_scores(y_true, y_pred, *, reject=None, base: float = math.e) -> dict[str, float]:
    r"""Rates, entropies and divergences of a classification with optional rejects.

    Parameters
    ----------
    y_true : array-like, shape (n_samples,)
        The true labels.
    y_pred : array-like, shape (n_samples,)
        The predicted labels, or `reject`.
    reject : label, optional
        The value in `y_pred` of a rejected row. It must not be a label in `y_true`. By default no row is
        rejected.
    base : {2, e}, default=e
        Base of the logarithm: :data:`math.e` for nats, 2 for bits.

    Returns
    -------
    dict of str to float
        Rates over all rows:

        - ``correct_rate``, ``error_rate``, ``reject_rate``: CR + E + Rej = 1
        - ``accuracy``: CR / (CR + E), over the rows that are not rejected

        Entropies, where the reject is one more value of the prediction Y:

        - ``entropy_true``: H(T), the baseline
        - ``entropy_pred``, ``joint_entropy``: H(Y), H(T, Y)
        - ``mutual_information``: I(T, Y)
        - ``conditional_entropy_true``, ``conditional_entropy_pred``: H(T | Y), H(Y | T)
        - ``cross_entropy_true_pred``, ``cross_entropy_pred_true``: H(T; Y), H(Y; T) of the two marginals
        - ``kl_true_pred``, ``kl_pred_true``: KL(T, Y), KL(Y, T) of the two marginals

        Normalised measures, which are 1 for an exact classification:

        - ``normalized_mutual_information``: I over H(T), the share of the baseline
        - ``normalized_mutual_information_pred``: I over H(Y); ``_arithmetic``, ``_geometric``, ``_max`` and
          ``_min``: over that mean, maximum or minimum of H(T) and H(Y); ``_joint``: over H(T, Y)
        - ``normalized_cross_entropy_true_pred``, ``normalized_cross_entropy_pred_true``: H(T) / H(T; Y) and
          H(Y) / H(Y; T)
        - ``normalized_kl_true_pred``, ``normalized_kl_pred_true``: exp(-KL), with KL in nats

        A ratio 0 / 0 is nan: the accuracy if all rows are rejected, a share of H(T) if there is only one
        class, and a share of H(Y) if all predictions are equal.

    Raises
    ------
    ValueError
        If the labels are not class labels, or `reject` is a label in `y_true`.

    See Also
    --------
    reject_least_certain : Rejects the least certain predictions.
    sklearn.metrics.matthews_corrcoef : Another score for unbalanced classes.

    Notes
    -----
    Cross entropies and divergences compare the marginals p(t) and p(y) on the classes and the reject; T is
    never the reject. H(T; Y) and KL(T, Y) are finite unless a class in `y_true` is never predicted. H(Y; T)
    and KL(Y, T) are inf if a row is rejected, or if a class is predicted that does not occur in `y_true`. The
    normalised measures are then 0.

    For an exact classification all measures attain the baseline: I = H(T; Y) = H(Y; T) = H(Y) = H(T), and
    conditional entropies and divergences are zero. This condition is necessary but not sufficient. Entropies
    do not depend on which prediction corresponds to which class, so all measures also attain the baseline if
    two classes with equal numbers of rows are exchanged and no row is correct. (Cross entropies and
    divergences depend only on the marginals, and attain it whenever each class is predicted as often as it
    occurs.) Furthermore, information does not decrease with every error: predictions with more errors may
    have more information. As the paper concludes, information does not replace accuracy but complements it;
    the mapping has both.

    Hu, He and Yuan compare 24 normalised measures, derived from mutual information, divergences or cross
    entropies. The mapping has those that the paper [2]_ uses: ratios with entropies of T and Y, and
    divergences as exp(-KL). It does not have other divergences, or variants of mutual information without
    rejects.

    References
    ----------
    .. [1] B.-G. Hu, R. He and X. Yuan (2012). Information-theoretic measures for objective evaluation of
       classifications. Acta Automatica Sinica 38(7), 1169-1182.
    .. [2] Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning,
       section "(Dis)similarity measures".

    Examples
    --------
    >>> from entrolearn.metrics import information_scores
    >>> scores = information_scores([0, 0, 1, 1], [0, 0, 1, -1], reject=-1, base=2)
    >>> scores["correct_rate"], scores["error_rate"], scores["reject_rate"], scores["accuracy"]
    (0.75, 0.0, 0.25, 1.0)
    >>> scores["entropy_true"], scores["mutual_information"], scores["kl_pred_true"]
    (1.0, 1.0, inf)
    """
    for each, name in ((y_true, "y_true"), (y_pred, "y_pred")):
        kind = type_of_target(each, input_name=name)
        if kind not in ("binary", "multiclass"):
            raise ValueError(f"{name} is {kind}; information_scores takes binary or multiclass labels")
    labels = unique_labels(y_true, y_pred)
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y_true, y_pred)
    if reject is not None:
        _check_reject(reject, y_true, "y_true")
    # Only pairs of labels that occur: a table of all pairs would be quadratic in the number of classes.
    pairs = np.searchsorted(labels, y_true) * len(labels) + np.searchsorted(labels, y_pred)
    pairs, counts = np.unique(pairs, return_counts=True)
    t, y = np.divmod(pairs, len(labels))
    return _rates(t == y, labels[y] == reject, counts) | _information(t, y, counts, len(labels), base)


def information_scorer(measure: str, *, reject=None, base: float = math.e) -> Callable:
    """Create a scorer from one of the measures of :func:`information_scores`.

    Parameters
    ----------
    measure : str
        A key of the mapping. Measures to minimise (errors, conditional and cross entropies, divergences) are
        negated, as in scikit-learn.
    reject : label, optional
        The value that the classifier predicts for a rejected row.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    callable
        A scorer for ``cross_val_score``, ``GridSearchCV`` and similar functions.

    Raises
    ------
    ValueError
        If the measure is unknown, or is one of the entropies H(T), H(Y), H(T, Y), which are not scores.

    Notes
    -----
    Selection by mutual information does not detect exchanged classes, see the notes of
    :func:`information_scores`.

    Examples
    --------
    >>> from entrolearn.metrics import information_scorer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> uncertain = information_scorer("conditional_entropy_true")
    >>> round(uncertain(DummyClassifier().fit(X, y), X, y), 4)  # minus the logarithm of three classes
    -1.0986
    """
    if measure not in SIMILARITIES | DISSIMILARITIES:
        known = ", ".join(sorted(SIMILARITIES | DISSIMILARITIES))
        raise ValueError(f"measure is {measure!r}; it must be one of {known}")
    return make_scorer(
        _score, greater_is_better=measure in SIMILARITIES, measure=measure, reject=reject, base=base
    )


def _score(y_true, y_pred, *, measure: str, reject, base: float) -> float:
    return information_scores(y_true, y_pred, reject=reject, base=base)[measure]


normalized_mutual_information_scorer = information_scorer("normalized_mutual_information")
"""Scorer of mutual information over H(T), for ``cross_val_score``, ``GridSearchCV`` and similar functions.
nan if there is only one class."""


def reject_least_certain(y_pred, certainty, share: float, *, reject) -> np.ndarray:
    """Reject the least certain predictions of a classifier.

    Parameters
    ----------
    y_pred : array-like, shape (n_samples,)
        Predicted labels.
    certainty : array-like, shape (n_samples,)
        Certainty of each prediction, such as the largest probability or the distance to the boundary.
    share : float
        Share of rejected rows, from 0 to 1, rounded to whole rows. Of equally certain rows the first ones are
        rejected.
    reject : label
        What to put in the place of a prediction: of the labels' kind, and none of them.

    Returns
    -------
    ndarray, shape (n_samples,)
        A copy, of a wider type where that of the labels does not hold `reject`.

    Raises
    ------
    ValueError
        If the arrays differ in length, the certainty is not finite, `share` is out of its range, or `reject`
        does not fit the labels.

    Notes
    -----
    Chow's rule rejects rows whose largest posterior probability is below a threshold. It has the smallest
    error for a given reject rate if the probabilities are correct.

    References
    ----------
    C. K. Chow (1970). On optimum recognition error and reject tradeoff. IEEE Transactions on Information
    Theory 16.

    Examples
    --------
    >>> from entrolearn.metrics import reject_least_certain
    >>> reject_least_certain([1, 0, 1, 0], [0.9, 0.6, 0.7, 1.0], 0.5, reject=-1)
    array([ 1, -1, -1,  0])
    """
    y_pred = column_or_1d(y_pred)
    certainty = column_or_1d(certainty, dtype=np.float64)
    check_consistent_length(y_pred, certainty)
    if not np.isfinite(certainty).all():
        raise ValueError("certainty holds NaN or infinite values; it must be finite")
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share!r}; it must be from 0 to 1")
    _check_reject(reject, y_pred, "y_pred")
    rejected = y_pred.astype(_type_of_both(y_pred, reject))
    rejected[np.argsort(certainty, kind="stable")[: round(share * len(y_pred))]] = reject
    return rejected


def _type_of_both(labels: np.ndarray, reject) -> np.dtype:
    """A dtype that represents the labels and the reject exactly."""
    label = np.asarray(reject)
    for dtype in (labels.dtype, np.result_type(labels, label)):
        with np.errstate(invalid="ignore", over="ignore"):
            if all(_is_same(each, each.astype(dtype)) for each in (labels, label)):
                return dtype
    raise ValueError(f"reject is {reject!r}; no type holds both it and labels of {labels.dtype} exactly")


def _is_same(labels: np.ndarray, cast: np.ndarray) -> bool:
    # Check both directions: 255 becomes -1 in int8, and 2^53 and 2^53 + 1 are equal as floats.
    return bool(np.all(cast == labels) and np.all(cast.astype(labels.dtype) == labels))


def _check_reject(reject, labels: np.ndarray, name: str) -> None:
    label, kinds = np.asarray(reject), "USO"
    if label.dtype.kind == "O" or (label.dtype.kind in kinds) != (labels.dtype.kind in kinds):
        raise ValueError(f"reject is {reject!r}; it must be of the same kind as {name}, {labels.dtype}")
    if (labels == label).any():
        raise ValueError(f"reject is {reject!r}, which is a label of {name}")


def _rates(correct: np.ndarray, rejected: np.ndarray, counts: np.ndarray) -> dict[str, float]:
    """Rates of pairs of labels that are correct, rejected or neither."""
    n_samples, n_correct, n_rejected = (
        int(each.sum()) for each in (counts, counts[correct], counts[rejected])
    )
    return {
        "correct_rate": n_correct / n_samples,
        "error_rate": (n_samples - n_correct - n_rejected) / n_samples,
        "reject_rate": n_rejected / n_samples,
        "accuracy": _ratio(n_correct, n_samples - n_rejected),
    }


def _information(
    t: np.ndarray, y: np.ndarray, counts: np.ndarray, n_labels: int, base: float
) -> dict[str, float]:
    """Information measures of pairs of labels, t of T and y of Y, that occur so many times."""
    unit, n_samples = nats_per_unit(base), counts.sum()
    p = counts / n_samples
    p_true, p_pred = (np.bincount(each, counts, n_labels) / n_samples for each in (t, y))
    of_true, of_pred, joint = (float(entropy(each, base=base)) for each in (p_true, p_pred, p))
    # As sums over the pairs: differences of entropies would leave rounding errors where the value is 0.
    shared = max(0.0, float(p_true[t] @ rel_entr(p / p_true[t], p_pred[y])) / unit)
    left_true, left_pred = (abs(float(rel_entr(p, each).sum())) / unit for each in (p_pred[y], p_true[t]))
    ways = (p_true, p_pred), (p_pred, p_true)
    forth, back = (float(cross_entropy(*each, base=base)) for each in ways)
    kl_forth, kl_back = (float(kl_divergence(*each, base=base)) for each in ways)
    return {
        "entropy_true": of_true,
        "entropy_pred": of_pred,
        "joint_entropy": joint,
        "mutual_information": shared,
        "conditional_entropy_true": left_true,
        "conditional_entropy_pred": left_pred,
        "cross_entropy_true_pred": forth,
        "cross_entropy_pred_true": back,
        "kl_true_pred": kl_forth,
        "kl_pred_true": kl_back,
        "normalized_mutual_information": _ratio(shared, of_true),
        "normalized_mutual_information_pred": _ratio(shared, of_pred),
        "normalized_mutual_information_arithmetic": _ratio(2 * shared, of_true + of_pred),
        "normalized_mutual_information_geometric": _ratio(shared, math.sqrt(of_true * of_pred)),
        "normalized_mutual_information_joint": _ratio(shared, joint),
        "normalized_mutual_information_max": _ratio(shared, max(of_true, of_pred)),
        "normalized_mutual_information_min": _ratio(shared, min(of_true, of_pred)),
        "normalized_cross_entropy_true_pred": _ratio(of_true, forth),
        "normalized_cross_entropy_pred_true": _ratio(of_pred, back),
        "normalized_kl_true_pred": base**-kl_forth,
        "normalized_kl_pred_true": base**-kl_back,
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan
