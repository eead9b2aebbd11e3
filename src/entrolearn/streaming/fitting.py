"""Out-of-core fits: one pass over the rows for the hidden layer, if needed, and one for the sums."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from entrolearn.feature_learning import RecursiveFeatures
from entrolearn.machines.additive import (
    check_additive,
    fit_sums,
)
from entrolearn.machines.boxes import Survey
from entrolearn.machines.devices import like as to_device
from entrolearn.streaming.recursive import check_recursive, fit_recursive
from entrolearn.streaming.sampling import sample_of
from entrolearn.streaming.sources import Rows, WeightedRows, rows, shown
from entrolearn.validation import check_params, checked_weights, dispatched_namespace, numpy_dtype

__all__ = ["fit", "on_device"]

# Steps of a pipeline that leave the rows as they are.
PASSED_OVER = (None, "passthrough")


def fit(
    estimator, X, y=None, *, sample_weight=None, classes=None, progress: bool | Callable = False, like=None
):
    """Fit an estimator to rows that are read chunk by chunk.

    Up to rounding, the fitted model equals that of ``estimator.fit`` on all rows, including its landmarks.
    Memory is needed for one chunk and for the sums over the rows, (n_hidden, n_hidden) for each class. The
    sums take one pass over the rows. Labels are read in an earlier pass unless `classes` is given. If the
    hidden layer needs landmarks, gamma="scale" or the bounds of the features, there is one more earlier pass
    over the rows.

    Parameters
    ----------
    estimator : estimator or Pipeline
        EEMClassifier, EEKMClassifier, WELMClassifier(solver="cholesky"), ELMClassifier, ELMRegressor,
        RKELMClassifier or RKELMRegressor; a RecursiveFeatureClassifier or RecursiveFeatureRegressor of one,
        which takes two passes more; or a pipeline that ends in one, whose other steps have a ``partial_fit``
        or need no fit: each is one more pass over the rows. It is fitted in place.
    X : Rows, or what :func:`rows` takes
        Arrays, memory maps, files or iterators of chunks; or a Dask array or data frame of shape
        (n_samples, n_features), for which :func:`entrolearn.streaming.distributed.fit` is called.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Targets, if X does not contain them. For a Dask array X, a Dask array; for a Dask data frame X, a
        Series or names of columns of X.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in their order, in memory. A row of weight 2 counts as two rows; a row of weight 0
        is ignored. In a pipeline they apply to the last step. For a Dask X, a Dask array or Series, or the
        name of a column of X.
    classes : array-like of shape (n_classes,), default=None
        All labels, for a classifier. They are required if the rows can be read only once.
    progress : bool or callable, default=False
        True shows a progress bar for each pass. A callable receives the number of rows read in the current
        pass and the total, None if it is not known; callables are not accepted with Dask.
    like : array, default=None
        An array of torch, CuPy or another array API library, of any shape: each chunk of dense rows is moved
        to its library and device, and the sums and the solution are computed there, as ``fit`` does with such
        arrays. Requires scikit-learn's ``array_api_dispatch``; not accepted with Dask, pipelines and
        recursive feature machines.

    Returns
    -------
    estimator : object
        The fitted `estimator`.

    Raises
    ------
    TypeError
        If the estimator's fit is not a sum over the rows, or cannot be computed where `like` is.
    ValueError
        If a parameter needs all rows at once, rows must be read twice but can be read only once, there are no
        rows, targets are missing, a class has no rows, or a chunk is invalid; the message names its rows.

    Notes
    -----
    For rows in single precision, computations are in single precision, as in ``fit``. If this is not accurate
    enough for a class covariance, the rows are read again and computed in double precision. Rows that can be
    read only once are always computed in double precision. If the number of rows is not known in advance, or
    is above 2**27, the landmarks and the rows for outlier detection are a reservoir sample, and not the rows
    that ``fit`` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import ELMClassifier, streaming
    >>> def chunks():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(10):
    ...         X = rng.uniform(size=(100, 3))
    ...         yield X, X.sum(axis=1) > 1.5
    >>> machine = streaming.fit(ELMClassifier(20, alpha=1e-3, random_state=0), chunks, classes=[False, True])
    >>> X, y = next(chunks())
    >>> machine.score(X, y) > 0.95
    True
    """
    if like is not None:
        _check_place(estimator, X, like)
    if _is_dask(X):
        from entrolearn.streaming.distributed import fit as fit_collection  # imports Dask

        options = {"sample_weight": sample_weight, "classes": classes, "progress": progress}
        return fit_collection(estimator, X, y, **options)
    source = X if isinstance(X, Rows) else rows(X, y)
    if sample_weight is not None:
        sample_weight = np.atleast_1d(sample_weight)
        sample_weight = checked_weights(sample_weight, sample_weight)
    weighted = WeightedRows(source, sample_weight, progress)
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    (check_recursive if isinstance(last, RecursiveFeatures) else check_additive)(last)
    if isinstance(estimator, Pipeline):
        weighted = _fit_steps(estimator, weighted)
    _fit_machine(last, weighted, classes, like)
    if isinstance(estimator, Pipeline):
        _keep_names(next(step for _, step in estimator.steps if step not in PASSED_OVER), source)
    return estimator


def _is_dask(X) -> bool:
    return hasattr(X, "__dask_graph__")


def _check_place(machine, X, like) -> None:
    """Raise if `like` cannot be used for this fit.

    Raises
    ------
    TypeError, ValueError
    """
    if _is_dask(X) or isinstance(machine, Pipeline | RecursiveFeatures):
        what = "Dask's collections" if _is_dask(X) else type(machine).__name__
        raise TypeError(f"like= is not accepted with {what}; accepted: other sources, a single estimator.")
    if dispatched_namespace(like) is np:
        raise ValueError(
            f"like is {type(like).__name__}, computed by NumPy; accepted: an array of torch, CuPy or another "
            "library of the array API, with sklearn.set_config(array_api_dispatch=True)."
        )


def _fit_machine(machine, weighted: WeightedRows, classes, like=None) -> None:
    """Fit an estimator to rows: first for its hidden units, if they need it, then the sums."""
    if isinstance(machine, RecursiveFeatures):
        fit_recursive(machine, weighted, partial(_fit_machine, classes=classes))
        return
    check_params(machine)
    source = weighted.source
    if not source.repeatable:
        _refuse_what_is_read_once(machine, classes)
    if is_classifier(machine) and classes is None:
        classes = weighted.labels()
    # Rows that can be read only once are computed in double precision.
    dtypes = None if source.repeatable else [np.float64]
    fit_sums(machine, partial(_sums, machine, weighted, like), classes, dtypes)
    _keep_names(machine, source)


def _refuse_what_is_read_once(machine, classes) -> None:
    """Raise if a fit reads the rows more than once."""
    units, what = machine._units(), None
    if units.in_box:
        what = "computes the bounds of the features before it sums over the rows"
        accepted = "bounds as a pair, an array of shape (2, n_features) or None"
    elif units.n_sampled:
        what, accepted = "draws its landmarks from the rows before it sums over them", "given landmarks"
    elif is_classifier(machine) and classes is None:
        what, accepted = "collects the labels before it sums over the rows", "the labels as classes"
    if what:
        raise ValueError(
            f"{type(machine).__name__} {what}, and these can be read only once; accepted: {accepted}; or "
            "arrays, files, a function that returns a new iterator of chunks."
        )


def _sums(machine, weighted: WeightedRows, like, dtypes: list) -> tuple:
    """The sums over all rows, the dtype of the rows, and their labels for a classifier."""
    rng = check_random_state(machine.random_state)
    survey, sums, seen = _survey(machine, weighted, dtypes, rng), None, None
    for X, targets, y, weights in _checked(machine, weighted, dtypes, "sums", like):
        if sums is None:
            survey = survey or Survey(X.shape[1], numpy_dtype(X))
            machine._layer = machine._layer_from_survey(X, survey, rng)
            sums = machine._no_sums(X, targets)
        sums.add_rows(machine._layer, X, targets, weights)
        if is_classifier(machine):
            seen = np.unique(y) if seen is None else np.union1d(seen, y)
    return sums, survey.dtype, seen


def _survey(machine, weighted: WeightedRows, dtypes: list, rng: np.random.RandomState) -> Any:
    """Statistics of all rows for the hidden layer, from one pass; None if the first chunk is enough."""
    units = machine._units()
    survey: Any = None
    if not units.n_sampled:
        return None
    sample = sample_of(weighted.n_rows, units.n_sampled, units.sampler(rng))
    for X, _, _, weights in _checked(machine, weighted, dtypes, "survey"):
        sample.offer(X, weights if units.in_box else None)
        of_chunk = Survey.of_chunk(X, units, weights)
        survey = of_chunk if survey is None else survey.merge(of_chunk)
    return survey.with_sample(*sample.rows())


def _checked(machine, weighted: WeightedRows, dtypes: list, purpose: str, like=None) -> Iterator[tuple]:
    """Yield validated rows in the first chunk's dtype, their targets, y and weights."""

    def check(X, y, first: bool) -> tuple:
        nonlocal dtypes
        X = X if like is None else on_device(X, like, dtypes)
        checked = machine._checked(X, y, first=first, dtypes=dtypes)
        dtypes = [numpy_dtype(checked[0])]
        return checked

    return weighted.checked(check, type(machine).__name__, purpose)


def on_device(X, like, dtypes: Sequence = (np.float64, np.float32)):
    """The rows of a chunk in the library and on the device of `like`, in one of these dtypes.

    Raises
    ------
    TypeError
        If the rows are sparse.
    """
    if issparse(X):
        raise TypeError("sparse rows cannot be moved to another array library; accepted: dense rows.")
    X = np.asarray(X)
    return to_device(X if X.dtype in dtypes else X.astype(dtypes[0]), like)


def _fit_steps(pipeline: Pipeline, weighted: WeightedRows) -> WeightedRows:
    """Fit all steps but the last, each in one pass over the rows that the previous steps transform."""
    for name, step in pipeline.steps[:-1]:
        if step in PASSED_OVER:
            continue
        if not hasattr(step, "partial_fit") and get_tags(step).requires_fit:
            raise TypeError(
                f"the pipeline's step {name!r}, {type(step).__name__}, needs all rows at once; accepted: "
                "steps with a partial_fit, such as MinMaxScaler and StandardScaler, and steps that need no "
                "fit."
            )
        if not weighted.source.repeatable:
            raise ValueError(
                f"the pipeline's step {name!r} reads the rows before the last step, and these can be read "
                "only once; accepted: arrays, files, or a function that returns a new iterator of chunks."
            )
    for i, (name, step) in enumerate(pipeline.steps[:-1]):
        if step in PASSED_OVER:
            continue
        fitted = clone(step)
        for X, _ in shown(weighted.source, weighted.progress, weighted.source.n_rows, name):
            if not hasattr(fitted, "partial_fit"):
                fitted.fit(X)  # only checks the columns
                break
            fitted.partial_fit(X)
        pipeline.steps[i] = name, fitted
        weighted = replace(weighted, source=weighted.source.transformed(fitted.transform))
    return weighted


def _keep_names(fitted, source: Rows) -> None:
    """Set ``feature_names_in_`` for sources whose chunks are arrays with named columns."""
    names = source.feature_names
    if names is not None and not hasattr(fitted, "feature_names_in_"):
        fitted.feature_names_in_ = np.asarray(names, dtype=object)
