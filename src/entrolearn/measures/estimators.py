"""Mutual information from samples: estimators by name, and the default estimator for given types of data."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from entrolearn.measures.counts import discrete_mutual_information
from entrolearn.measures.gaussian import copula_mutual_information, gaussian_mutual_information
from entrolearn.measures.information import check_choice
from entrolearn.measures.kernel_information import kde_mutual_information, quadratic_mutual_information
from entrolearn.measures.neighbors import (
    knn_mutual_information,
    mixed_mutual_information,
    ross_mutual_information,
)
from entrolearn.measures.reliability import LABELS, columns, read_variables, share_of_ties

__all__ = ["MUTUAL_INFORMATION_METHODS", "mutual_information_estimator", "mutual_information_from_samples"]


#: Name -> function of X and Y that estimates their mutual information.
MUTUAL_INFORMATION_METHODS: dict[str, Callable[..., float]] = {
    "knn": knn_mutual_information,
    "mixed": mixed_mutual_information,
    "ross": ross_mutual_information,
    "gaussian": gaussian_mutual_information,
    "copula": copula_mutual_information,
    "kde": kde_mutual_information,
    "quadratic": quadratic_mutual_information,
    "discrete": discrete_mutual_information,
}

WITHOUT_GIVEN = {"ross", "quadratic"}


def mutual_information_from_samples(X, Y, *, given=None, method: str = "auto", **options) -> float:
    """Mutual information of two variables of any type, from samples.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Numbers or labels.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Numbers or labels, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        The conditioning variables, for a conditional mutual information.
    method : str, default="auto"
        A key of ``MUTUAL_INFORMATION_METHODS``: "knn", "mixed", "ross" (Y is a class), "gaussian", "copula",
        "kde", "quadratic" or "discrete". "auto" is "discrete" if all variables are labels (strings, objects
        or booleans); "ross" if X is numbers, Y is one column of labels and `given` is None; "knn" if all
        variables are numbers without repeated rows; and "mixed" otherwise.
    **options : keyword arguments
        Parameters of the estimator, such as `n_neighbors` and `base`.

    Returns
    -------
    float
        In nats, unless `base` is 2. "quadratic" returns a divergence, which has no unit.

    Raises
    ------
    ValueError
        If the method is unknown or does not take `given`, or the estimator does not accept its input.

    See Also
    --------
    independence_test : Permutation test of independence.
    mutual_information_interval : Estimate with a confidence interval.

    Notes
    -----
    "auto" treats integers as numbers. If they are class labels, pass ``method="ross"`` or "discrete".

    Examples
    --------
    >>> from entrolearn.measures import mutual_information_from_samples
    >>> round(mutual_information_from_samples(list("abab"), list("xyxy")), 4)
    0.6931
    """
    return mutual_information_estimator(X, Y, given=given, method=method)(X, Y, given=given, **options)


def mutual_information_estimator(X, Y, *, given=None, method: str = "auto") -> Callable[..., float]:
    """The estimator that :func:`mutual_information_from_samples` calls.

    Parameters
    ----------
    X, Y : array-like
        The variables, which only "auto" uses.
    given : array-like, optional
        The conditioning variables.
    method : str, default="auto"
        The name of an estimator, or "auto".

    Returns
    -------
    callable
        Function of X and Y, with `given` and the estimator's parameters as keyword arguments.

    Raises
    ------
    ValueError
        If the method is unknown or does not take `given`.

    Examples
    --------
    >>> from entrolearn.measures import mutual_information_estimator
    >>> mutual_information_estimator(["a", "b"], ["x", "y"]).__name__
    'discrete_mutual_information'
    """
    if method == "auto":
        method = _chosen_method(X, Y, given)
    check_choice("method", method, ["auto", *MUTUAL_INFORMATION_METHODS])
    if method not in WITHOUT_GIVEN:
        return MUTUAL_INFORMATION_METHODS[method]
    if given is not None:
        raise ValueError(f"method is {method!r}, which does not accept `given`; 'mixed' and 'knn' do")
    return _without_given(MUTUAL_INFORMATION_METHODS[method])


def _chosen_method(X, Y, given) -> str:
    variables = [X, Y] if given is None else [X, Y, given]
    labels = [np.asarray(each).dtype.kind in LABELS for each in variables]
    if all(labels):
        return "discrete"
    if labels == [False, True] and np.ndim(Y) == 1:
        return "ross"
    if any(labels) or any(map(share_of_ties, read_variables(columns, 1, X=X, Y=Y, given=given).values())):
        return "mixed"
    return "knn"


def _without_given(estimator: Callable[..., float]) -> Callable[..., float]:
    @wraps(estimator)
    def estimate(X, Y, *, given=None, **options) -> float:
        return estimator(X, Y, **options)

    return estimate
