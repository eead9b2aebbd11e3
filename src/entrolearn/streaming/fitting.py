"""Fits to more rows than memory holds: one look at them for what the hidden layer needs, one for the sums."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from entrolearn.feature_learning import RecursiveFeatures
from entrolearn.machines.additive import Additive, Seen, Survey
from entrolearn.machines.base import encode
from entrolearn.streaming.additive import check_additive, check_classes_seen, weighted_chunk
from entrolearn.streaming.base import Rows, TransformedRows
from entrolearn.streaming.progress import shown
from entrolearn.streaming.recursive import check_recursive, fit_recursive
from entrolearn.streaming.sampling import sample_of
from entrolearn.streaming.sources import rows
from entrolearn.validation import checked_weights

__all__ = ["fit"]


def fit(machine, X, y=None, *, sample_weight=None, classes=None, progress: bool | Callable = False):
    """Fit a machine to rows that are read chunk by chunk.

    The fitted machine is that of ``machine.fit`` on all rows at once, landmarks included, up to rounding.
    Memory holds a chunk and the sums over the rows, (n_hidden, n_hidden) for each class. Rows are read once
    for the sums, labels once before unless `classes` names them, and all rows once before where a layer needs
    landmarks, the gamma that is called "scale" or the bounds of the features.

    Parameters
    ----------
    machine : estimator or Pipeline
        EEMClassifier, EEKMClassifier, WELMClassifier(solver="cholesky"), ELMClassifier, ELMRegressor,
        RKELMClassifier or RKELMRegressor; a RecursiveFeatureClassifier or RecursiveFeatureRegressor of one,
        which takes two passes more; or a pipeline that ends in one, whose other steps have a ``partial_fit``
        or need no fit: each is one more pass over the rows. It is fitted in place.
    X : Rows, or what :func:`rows` takes
        Arrays, memory maps, files, iterators of chunks; or a Dask array or frame of shape
        (n_samples, n_features), whose sums are then made where its chunks are, by
        :func:`entrolearn.streaming.distributed.fit`.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Where X does not bring the targets along. With a Dask array a Dask array; with a Dask frame a frame or
        Series too, or names of its columns.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in their order, held in memory: a row of weight two counts as two rows, one of
        weight zero is left out. They weigh the rows of a pipeline's last step. With Dask's X a Dask array or
        Series, or the name of a column of X.
    classes : array-like of shape (n_classes,), default=None
        The labels, for a classifier. Rows that can be read only once need them.
    progress : bool or callable, default=False
        True shows a bar for each pass; a callable gets the number of rows that a pass has read so far, and
        that of all rows, or None where it is not known; with Dask it is refused.

    Returns
    -------
    machine : object
        The same, fitted.

    Raises
    ------
    TypeError
        If the machine's fit is no sum over the rows.
    ValueError
        If a setting needs all rows at once, rows have to be read twice and cannot be, there are none, targets
        are missing, a class has no rows, or a chunk is refused: the error says which rows.

    Notes
    -----
    Rows in single precision are computed as ``fit`` computes them; where that leaves no digits of a class's
    covariance they are read once more, in double precision. Rows that can be read only once are computed in
    double precision. Where the number of rows is not known before they are read, or is above 2**27,
    landmarks, and rows that tell which bounds of the features are far out, are a reservoir sample of them
    instead of those that ``fit`` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import ELMClassifier, streaming
    >>> def chunks():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(10):
    ...         X = rng.uniform(size=(100, 3))
    ...         yield X, X.sum(axis=1) > 1.5
    >>> machine = streaming.fit(ELMClassifier(20, C=1e-3, random_state=0), chunks, classes=[False, True])
    >>> X, y = next(chunks())
    >>> machine.score(X, y) > 0.95
    True
    """
    if _is_dask(X):
        from entrolearn.streaming.distributed import fit as fit_collection  # imports Dask, as they have

        options = {"sample_weight": sample_weight, "classes": classes, "progress": progress}
        return fit_collection(machine, X, y, **options)
    source = X if isinstance(X, Rows) else rows(X, y)
    if sample_weight is not None:
        sample_weight = np.atleast_1d(sample_weight)
        sample_weight = checked_weights(sample_weight, sample_weight)
    if isinstance(machine, Pipeline):
        return _fit_pipeline(machine, source, sample_weight, classes, progress)
    _check(machine)
    _fit_machine(machine, source, sample_weight, classes, progress)
    return machine


def _check(machine) -> None:
    """Refuse a machine that cannot be fitted to chunks."""
    if isinstance(machine, RecursiveFeatures):
        check_recursive(machine)
    else:
        check_additive(machine)


def _fit_machine(machine, source: Rows, weights: np.ndarray | None, classes, progress) -> None:
    if not isinstance(machine, RecursiveFeatures):
        _Fit(machine, source, weights, progress).run(classes)
        return

    def fit_estimator(estimator: Additive, moved: Rows) -> None:
        _Fit(estimator, moved, weights, progress).run(classes)

    fit_recursive(machine, source, weights, fit_estimator, progress)


def _is_dask(X) -> bool:
    return hasattr(X, "__dask_graph__")


class _Fit:
    """One machine, the rows it is fitted to, their weights, and what shows how far it is."""

    def __init__(
        self, machine: Additive, source: Rows, weights: np.ndarray | None, progress: bool | Callable
    ):
        self.machine = machine
        self.name = type(machine).__name__
        self.source = source
        self.weights = weights
        self.n_rows = source.n_rows if weights is None else int(np.count_nonzero(weights))
        self.progress = progress

    def run(self, classes) -> None:
        """The passes in turn."""
        machine = self.machine
        machine._validate_params()
        self._refuse_what_is_read_once(machine, classes)
        if is_classifier(machine):
            labels = self._labels() if classes is None else classes
            machine.classes_, _ = encode(np.asarray(labels), self.name)
        machine._refuse_sums()
        machine._forget()
        # Rows that can be read once are computed in double precision: there is no second look at them.
        dtypes = machine._accepted_dtypes() if self.source.repeatable else [np.float64]
        if not self._sum_and_solve(dtypes):
            self._sum_and_solve([np.float64])
        _keep_names(machine, self.source)

    def _refuse_what_is_read_once(self, machine, classes) -> None:
        if self.source.repeatable:
            return
        if machine._needs().box:
            raise ValueError(
                f"{self.name} looks for the bounds of the features before it sums over the rows, and these "
                "can be read only once; accepted: feature_range as a pair, an array of shape "
                "(2, n_features) or None; or arrays, files, a function that returns a new iterator of chunks."
            )
        if machine._needs().n_landmarks:
            raise ValueError(
                f"{self.name} draws its landmarks from the rows before it sums over them, and these can be "
                "read only once; accepted: given landmarks; or arrays, files, a function that returns a new "
                "iterator of chunks."
            )
        if is_classifier(machine) and classes is None:
            raise ValueError(
                f"{self.name} looks for the labels before it sums over the rows, and these can be read only "
                "once: name the labels in classes, or give a function that returns a new iterator of chunks."
            )

    def _labels(self) -> np.ndarray:
        """All labels, from one pass over them."""
        found: Any = None
        start = 0
        for y in self.source.targets():
            stop = start + len(y)
            some = np.unique(y if self.weights is None else y[self._weights(start, stop) > 0])
            if len(some):
                found = some if found is None else np.union1d(found, some)
            start = stop
        return found

    def _sum_and_solve(self, dtypes: list) -> bool:
        machine, sums, seen = self.machine, None, set()
        rng = check_random_state(machine.random_state)
        survey = self._survey(dtypes, rng)
        for X, y, targets, weights in self._chunks(dtypes, "sums"):
            if sums is None:
                survey = survey or Survey(X.shape[1], X.dtype)
                machine._layer = machine._layer_on(survey, rng)
                sums = machine._no_sums(X, targets)
            sums = machine._add_rows(sums, X, targets, weights)
            if is_classifier(machine):
                seen.update(np.unique(y).tolist())
        if is_classifier(machine):
            check_classes_seen(machine.classes_.tolist(), seen)
        return machine._finish(sums, survey.dtype)

    def _survey(self, dtypes: list, rng: np.random.RandomState) -> Survey | None:
        """What a layer has to know of all rows, from one pass; None where a first chunk will do."""
        needs = self.machine._needs()
        if not needs.n_sampled:
            return None
        sample = sample_of(self.n_rows, needs.n_sampled, needs.sampler(rng))
        seen, X = Seen(), None
        for X, _, _, weights in self._chunks(dtypes, "survey"):
            sample.offer(needs.sampled(X, weights))
            seen = seen.merge(Seen.of(X, needs, weights))
        return Survey.of_passes(X, needs, sample.rows, seen)

    def _chunks(self, dtypes: list, purpose: str) -> Iterator[tuple]:
        """Checked rows in the first chunk's precision, their y, the machine's targets, and their weights."""
        start, first = 0, True
        for X, y in shown(self.source, self.progress, self.source.n_rows, f"{self.name}: {purpose}"):
            stop = start + X.shape[0]
            if y is None:
                raise ValueError(
                    f"{self.name} needs targets, and these rows come without; name them or give y."
                )
            X, y, weights = weighted_chunk(X, y, self._weights(start, stop))
            if X.shape[0]:
                try:
                    checked, targets = self.machine._checked(X, y, first=first, dtypes=dtypes)
                except (TypeError, ValueError) as error:
                    raise type(error)(f"rows {start} to {stop - 1}: {error}") from error
                dtypes, first = [checked.dtype], False
                yield checked, y, targets, weights
            start = stop
        if self.weights is not None and start != len(self.weights):
            raise self._other_length(start)

    def _weights(self, start: int, stop: int) -> np.ndarray | None:
        if self.weights is None:
            return None
        if stop > len(self.weights):
            raise self._other_length(self.source.n_rows or f"at least {stop}")
        return self.weights[start:stop]

    def _other_length(self, n_rows) -> ValueError:
        return ValueError(f"sample_weight holds {len(self.weights)} numbers, and there are {n_rows} rows.")


def _fit_pipeline(
    pipeline: Pipeline, source: Rows, weights: np.ndarray | None, classes, progress: bool | Callable
) -> Pipeline:
    """Each step in turn, on the rows as the steps before transform them."""
    *steps, (_, machine) = pipeline.steps
    _check(machine)
    for name, step in steps:
        _refuse_step(name, step, source)
    rows_of_step = source
    for i, (name, step) in enumerate(steps):
        if step is None or step == "passthrough":
            continue
        fitted = clone(step)
        for X, _ in shown(rows_of_step, progress, source.n_rows, name):
            if not hasattr(fitted, "partial_fit"):
                fitted.fit(X)  # looks at the columns alone
                break
            fitted.partial_fit(X)
        pipeline.steps[i] = name, fitted
        rows_of_step = TransformedRows(rows_of_step, fitted)
    _fit_machine(machine, rows_of_step, weights, classes, progress)
    _keep_names(next(step for _, step in pipeline.steps if step not in (None, "passthrough")), source)
    return pipeline


def _keep_names(fitted, source: Rows) -> None:
    """What scikit-learn keeps of a frame, for rows that came as arrays whose columns have names."""
    names = source.feature_names
    if names is not None and not hasattr(fitted, "feature_names_in_"):
        fitted.feature_names_in_ = np.asarray(names, dtype=object)


def _refuse_step(name: str, step, source: Rows) -> None:
    if step is None or step == "passthrough":
        return
    if not hasattr(step, "partial_fit") and get_tags(step).requires_fit:
        raise TypeError(
            f"the pipeline's step {name!r}, {type(step).__name__}, needs all rows at once; accepted: steps "
            "with a partial_fit, such as MinMaxScaler and StandardScaler, and steps that need no fit."
        )
    if not source.repeatable:
        raise ValueError(
            f"the pipeline's step {name!r} reads the rows before its last step does, and these can be read "
            "only once; accepted: arrays, files, or a function that returns a new iterator of chunks."
        )
