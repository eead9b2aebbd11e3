"""Base classes of learners whose fit sums over the rows and then solves, for data in memory and streams."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from entrolearn.kernels import gamma_of_spread, scale_gamma, weighted_spread
from entrolearn.machines.base import codes_among, learn_stream_classes
from entrolearn.machines.boxes import (
    BOX_ROWS,
    FEATURE_RANGE,
    FEWEST_ROWS,
    Extent,
    box_of_rows,
    box_sampler,
    given_box,
    warn_few_rows,
)
from entrolearn.machines.devices import in_double, like, mean_and_variance, take_rows, with_enough_digits
from entrolearn.machines.moments import ClassMoments, add_rows, no_moments, row_blocks
from entrolearn.machines.sums import GroupSums, Sums
from entrolearn.path import Partition
from entrolearn.validation import (
    Interval,
    encode,
    is_numpy,
    numpy_dtype,
    to_numpy,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = [
    "Additive",
    "AdditiveOverClasses",
    "InBox",
    "Needs",
    "OnLandmarks",
    "Seen",
    "Spread",
    "Survey",
    "draw_layer",
    "fit_sums",
    "takes_chunks",
]


@dataclass(frozen=True)
class Needs:
    """Statistics of the training rows that a hidden layer needs, besides the number of features.

    Attributes
    ----------
    n_landmarks : int
        Number of rows that the layer keeps as landmarks.
    scale : bool
        Whether the layer needs gamma="scale".
    box : bool
        Whether the layer needs the bounds of the features.
    """

    n_landmarks: int = 0
    scale: bool = False
    box: bool = False

    @property
    def n_sampled(self) -> int:
        """Number of rows to sample, as landmarks or to detect outliers."""
        return self.n_landmarks or BOX_ROWS * self.box

    def sampler(self, rng: np.random.RandomState) -> np.random.RandomState:
        """Random state that samples the rows; `rng` is that of the layer."""
        return box_sampler() if self.box else rng

    def sampled(self, X, weights: np.ndarray | None):
        """The rows to sample from, dense or CSR; for a box, with their weights as the last column."""
        if weights is None or not self.box:
            return X
        column = weights[:, None].astype(X.dtype)
        return hstack([X, column], format="csr") if issparse(X) else np.hstack([X, column])


@dataclass(frozen=True)
class Survey:
    """The statistics that :class:`Needs` specifies.

    Attributes
    ----------
    n_features : int
    dtype : dtype
        Type of the rows.
    landmarks : {ndarray, CSR}, shape (n_landmarks, n_features), or None
        Rows drawn without replacement; all rows if there are fewer.
    scale : float or None
        Value of gamma="scale".
    box : ndarray, shape (2, n_features), or None
        Lower and upper bounds of the features.
    """

    n_features: int
    dtype: np.dtype
    landmarks: object = None
    scale: float | None = None
    box: np.ndarray | None = None

    @classmethod
    def of(cls, X, needs: Needs, rng: np.random.RandomState, weights: np.ndarray | None = None) -> "Survey":
        """Survey of rows in memory, shape (n_samples, n_features), and their weights."""
        n_features, dtype = X.shape[1], numpy_dtype(X)
        if not needs.n_sampled:
            return cls(n_features, dtype)
        sampled = needs.sampler(rng).permutation(X.shape[0])[: needs.n_sampled]
        sample = take_rows(X, sampled)
        if needs.box:
            sample = sample if is_numpy(sample) else to_numpy(sample)
            weights = None if weights is None else weights[sampled]
            return cls(n_features, dtype, box=box_of_rows(Extent.of(X), sample, dtype, weights))
        return cls(n_features, dtype, sample, _scale_gamma(X, weights) if needs.scale else None)

    @classmethod
    def of_passes(cls, X, needs: Needs, sample, seen: "Seen") -> "Survey":
        """Survey of streamed rows, from their statistics `seen` and a sample of ``needs.sampled``."""
        n_features, dtype = X.shape[1], X.dtype
        if needs.box:
            weights = None
            if sample.shape[1] > n_features:
                weights = sample[:, [-1]].toarray() if issparse(sample) else sample[:, -1]
                sample, weights = sample[:, :-1], weights.ravel().astype(np.float64)
            return cls(n_features, dtype, box=box_of_rows(seen.extent, sample, dtype, weights))
        scale = seen.spread.scale_gamma(n_features, dtype) if needs.scale else None
        return cls(n_features, dtype, sample, scale)

    def gamma(self, gamma: float | str) -> float | str | None:
        """Replace "scale" by its value; return other values unchanged."""
        return self.scale if isinstance(gamma, str) and gamma == "scale" else gamma


def _scale_gamma(X, weights: np.ndarray | None) -> float:
    """Value of gamma="scale" for rows in any array library."""
    if is_numpy(X) or weights is not None:
        return scale_gamma(X if is_numpy(X) else to_numpy(X), weights)
    return gamma_of_spread(X.shape[1], *mean_and_variance(X), numpy_dtype(X))


@dataclass(frozen=True)
class Spread:
    """Count, mean and sum of squared deviations of all elements of some rows; spreads can be merged.

    Chan, Golub and LeVeque (1983), "Algorithms for computing the sample variance", eq. (2.1).

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.machines.additive import Spread
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> both = Spread.of(X[:20]).merge(Spread.of(X[20:]))
    >>> bool(np.isclose(both.variance, X.var()))
    True
    """

    n: float = 0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, X, weights: np.ndarray | None = None) -> "Spread":
        """Spread of the rows of X, dense or CSR, with optional weights."""
        if weights is not None and len(weights):
            return cls(*weighted_spread(X, weights))
        n = int(np.prod(X.shape, dtype=np.int64))
        if not n:
            return cls()
        mean = float(X.mean(dtype=np.float64))
        stored = X.data if issparse(X) else X
        squares = float(np.square(stored - mean, dtype=np.float64).sum())
        return cls(n, mean, squares + (n - stored.size) * mean**2)

    def merge(self, other: "Spread") -> "Spread":
        """Spread of the union of both sets of rows."""
        n = self.n + other.n
        if not n:
            return self
        gap = other.mean - self.mean
        squares = self.squares + other.squares + gap**2 * self.n * other.n / n
        return Spread(n, self.mean + gap * other.n / n, squares)

    @property
    def variance(self) -> float:
        """Variance of all elements (``ddof=0``)."""
        return self.squares / self.n

    def scale_gamma(self, n_features: int, dtype) -> float:
        """Value of gamma="scale"."""
        return gamma_of_spread(n_features, self.mean, self.variance, dtype)


@dataclass(frozen=True)
class Seen:
    """Spread and extent of some rows, as far as :class:`Needs` requires them; two of them can be merged."""

    spread: Spread = Spread()
    extent: Extent | None = None

    @classmethod
    def of(cls, X, needs: Needs, weights: np.ndarray | None = None) -> "Seen":
        """Statistics of the rows of X (at least one), dense or CSR, and their weights."""
        return cls(Spread.of(X, weights) if needs.scale else Spread(), Extent.of(X) if needs.box else None)

    def merge(self, other: "Seen") -> "Seen":
        """Statistics of the union of both sets of rows."""
        extents = [each.extent for each in (self, other) if each.extent is not None]
        return Seen(self.spread.merge(other.spread), reduce(Extent.merge, extents) if extents else None)


def takes_chunks(machine: "Additive") -> bool:
    """Whether the learner has ``partial_fit`` and ``forget`` with its parameters."""
    return machine._takes_chunks()


def draw_layer(machine: "Additive", X, survey: Survey, rng: np.random.RandomState) -> None:
    """Draw the hidden layer for rows with these statistics, on the device of X."""
    machine._layer = machine._layer_beside(X, survey, rng)


def fit_sums(machine: "Additive", sums_of: Callable[[list], tuple], classes=None, dtypes=None) -> None:
    """Fit to sums over rows that are read in chunks, in double precision if single has too few digits.

    Parameters
    ----------
    machine : Additive
    sums_of : callable
        ``sums_of(dtypes)`` draws the layer and returns the sums, and the dtype of the rows, one of these.
    classes : array-like of shape (n_classes,), optional
        All labels, for a classifier.
    dtypes : list, optional
        Accepted dtypes. Default: those of ``fit``.
    """
    if is_classifier(machine):
        machine.classes_, _ = encode(np.asarray(classes), type(machine).__name__)
    machine._refuse_sums()
    machine._forget()
    with_enough_digits(
        lambda accepted: machine._finish(*sums_of(accepted)), dtypes or machine._accepted_dtypes()
    )


class Additive:
    """A learner whose fit draws the hidden layer, computes sums over the rows, and solves for the readout.

    Sums of disjoint sets of rows can be added: ``fit`` computes them for all rows at once,
    :mod:`entrolearn.streaming` by chunks or on several hosts. A subclass converts y to targets: the index of
    each label in ``classes_``, or an array of values.
    """

    keep_sums: bool
    # Accepted types of X; others are converted to the first.
    _dtypes: tuple = (np.float64,)

    def _accepted_dtypes(self) -> list:
        """Types in which a fit computes; with `keep_sums` only double precision."""
        return [np.float64] if self.keep_sums else list(self._dtypes)

    def _forget(self) -> None:
        """Delete attributes of an earlier fit or stream that a new fit does not overwrite."""
        for stale in ("_stream", "_rounding", "loo_errors_"):
            vars(self).pop(stale, None)

    def _refuse_sums(self) -> None:
        """Raise a ValueError for parameters that need all rows at once or do not match ``classes_``."""

    def _takes_chunks(self) -> bool:
        """Whether ``partial_fit`` and ``forget`` are available with these parameters."""
        return True

    def _needs(self) -> Needs:
        """Statistics of the rows that the layer needs."""
        return Needs()

    def _refuse_drawn(self, X) -> None:
        """Raise a ValueError if the layer was drawn from one of these rows, which are to be forgotten."""

    @abstractmethod
    def _layer_on(self, survey: Survey, rng: np.random.RandomState):
        """The hidden layer for rows with these statistics."""

    @abstractmethod
    def _checked(self, X, y, *, first: bool, dtypes: list):
        """Validated rows and targets of a chunk; the first chunk sets the number of features."""

    @abstractmethod
    def _no_sums(self, X, targets) -> GroupSums:
        """Empty sums; X and targets are the first rows, to compute shifts from."""

    @abstractmethod
    def _add_rows(self, sums, X, targets, weights: np.ndarray | None):
        """Add rows to the sums, in place if possible, and return them; weights are positive or None."""

    @abstractmethod
    def _solve_sums(self, sums, dtype) -> None:
        """Solve and store the readout; raise TooFewDigits if rows of this dtype are not accurate enough."""

    def _draw_layer(self, X, weights: np.ndarray | None = None, first_chunk: bool = False):
        """The hidden layer for rows in memory, on their device; for a stream, those of its first chunk."""
        rng, needs = check_random_state(self.random_state), self._needs()
        if first_chunk and needs.box and X.shape[0] < FEWEST_ROWS:
            warn_few_rows(X.shape[0], type(self).__name__)
            needs = Needs()
        return self._layer_beside(X, Survey.of(X, needs, rng, weights), rng)

    def _layer_beside(self, X, survey: Survey, rng: np.random.RandomState):
        """The hidden layer for rows with these statistics, on the device of X."""
        return self._layer_on(survey, rng).beside(X)

    def _fit_rows(self, X, targets, weights: np.ndarray | None) -> None:
        """Fit to rows in memory, in their precision if that is accurate enough, otherwise in double."""

        def fit(dtypes: list) -> None:
            self._fit_rows_of(X if numpy_dtype(X) in dtypes else in_double(X), targets, weights)

        with_enough_digits(fit, [np.float64, np.float32])

    def _fit_rows_of(self, X, targets, weights: np.ndarray | None) -> None:
        """Fit to rows in memory in their precision."""
        self._layer = self._draw_layer(X, weights)
        sums = self._add_rows(self._no_sums(X, targets), X, targets, weights)
        self._finish(sums, numpy_dtype(X))

    def _finish(self, sums, dtype) -> None:
        """Solve the sums over all rows of a fit, and store them if `keep_sums`."""
        if self.keep_sums:
            self._stream = sums
        self._solve_sums(sums, dtype)

    def _begins(self, method: str = "partial_fit") -> bool:
        """Whether there are no sums yet, as in the first call of ``partial_fit``.

        Raises
        ------
        ValueError
            If the last fit did not keep its sums.
        """
        if hasattr(self, "_stream"):
            return False
        if hasattr(self, "hidden_coef_"):
            raise ValueError(
                f"{type(self).__name__} was fitted with keep_sums=False: there is nothing that {method} "
                "could go on from; accepted: fit with keep_sums=True, or a clone, which begins a new stream."
            )
        return True

    def _fade(self, decay: float) -> None:
        """Multiply the weights of all earlier rows by `decay`.

        Raises
        ------
        ValueError
            If `decay` is not a number in (0, 1].
        """
        if not isinstance(decay, Real) or not 0 < decay <= 1:
            raise ValueError(f"decay={decay!r}; accepted: a number above 0, up to 1.")
        if decay < 1 and hasattr(self, "_stream"):
            self._stream *= decay

    @available_if(takes_chunks)
    @validated(prefer_skip_nested_validation=False)
    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows from the fitted model.

        Up to rounding, the model then equals that of :meth:`fit` on the other rows with the same hidden
        layer. This requires the sums over the rows, from :meth:`fit` or :func:`entrolearn.streaming.fit` with
        ``keep_sums=True``, or from :meth:`partial_fit`. If no row of a class is left (or, for least squares,
        no row at all), the estimator is not fitted until :meth:`partial_fit` adds one.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows that the model was fitted to.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of these rows.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights of the fit. With smaller weights, the rest of the weight remains, but the rows
            no longer count in the shrinkage of "ledoit_wolf" and "oas", and :func:`entrolearn.influence`
            refuses the model.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the model has no sums; if the hidden layer depends on one of the rows (as a bound of the
            features, a landmark, or through the width "scale"); or if the sums cannot contain these rows,
            because too few rows or a negative sum of squares would be left. The model is then unchanged.

        Notes
        -----
        Rows that the model was not fitted to are not detected if the sums could contain them.
        """
        if self._begins("forget"):
            check_is_fitted(self)
        machine = copy(self)  # an error leaves the estimator unchanged
        X, targets = machine._checked(X, y, first=False, dtypes=[np.float64])
        X, targets, weights = weighted_rows(X, targets, sample_weight)
        machine._refuse_drawn(X)
        left = machine._without(X, targets, weights)
        vars(self).clear()
        vars(self).update(vars(left))
        return self

    def _without(self, X, targets, weights: np.ndarray | None) -> Self:
        """A copy with the same layer, without these (validated) rows.

        It is not fitted if no row of a class, or no row at all, is left.
        """
        machine, sums = copy(self), self._stream
        rows = self._add_rows(sums.empty(), X, targets, weights)
        machine._rounding = np.maximum(getattr(self, "_rounding", 0.0), sums.rounding())
        machine._stream = sums.without(rows, machine._rounding, self._names_of_sums())
        if machine._stream.all_have_rows():
            machine._solve_sums(machine._stream, numpy_dtype(X))
        else:
            vars(machine).pop("hidden_coef_", None)
        return machine

    def _names_of_sums(self) -> list[str]:
        """Names of the groups of rows in error messages."""
        return ["rows"]

    @abstractmethod
    def _zero_sums(self) -> Sums:
        """Sums of zero rows of one group, with a shift of zero."""

    def _sums_over(self, classes: np.ndarray) -> GroupSums:
        """The sums for other classes: without the rows of those that are missing, with those without rows."""
        return self._stream


class AdditiveOverClasses(Additive):
    """A classifier whose sums are the moments of each class in the hidden space."""

    @available_if(takes_chunks)
    @validated(prefer_skip_nested_validation=False)
    def partial_fit(self, X, y, classes=None, sample_weight=None, decay=1.0) -> Self:
        """Update the model with more rows of a stream.

        The model then equals that of :meth:`fit` on all rows so far with the hidden layer of the first call,
        whatever the order of the rows and the sizes of the chunks. A layer that depends on rows (landmarks,
        or the box of the features) is drawn from the rows of the first call. A box needs at least five rows;
        with fewer, the features are not scaled, with a warning. Predictions require at least one row of every
        class. All computations are in double precision, because rows are seen only once. After :meth:`fit`,
        the call updates the fitted model if ``keep_sums`` is true, and raises a ValueError otherwise.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur in the stream; required in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.
        decay : float in (0, 1], default=1.0
            Factor by which the weights of all earlier rows are multiplied. The model equals that of
            :meth:`fit` with weights ``decay**k`` for the rows of k calls ago.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, has only one class or changes later, y has a label
            that is not in `classes`, `decay` is out of range, a parameter needs all rows at once (a
            ``covariance`` that is an estimator), or the model was fitted without ``keep_sums``.
        """
        first = self._begins()
        learn_stream_classes(self, classes)
        self._refuse_sums()
        X, codes = self._checked(X, y, first=first, dtypes=[np.float64])
        X, codes, weights = weighted_rows(X, codes, sample_weight)
        self._fade(decay)
        if first:
            self._layer = self._draw_layer(X, weights, first_chunk=True)
            self._stream = self._no_sums(X, codes)
        elif not self._stream.all_have_rows():  # the shift of a class is the mean of its first rows
            begun = zip(self._stream, self._no_sums(X, codes), strict=True)
            self._stream = GroupSums(moments if moments.n else new for moments, new in begun)
        self._add_rows(self._stream, X, codes, weights)
        if self._stream.all_have_rows():
            self._solve_sums(self._stream, numpy_dtype(X))
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "hidden_coef_")

    def _check_is_fitted(self):
        if not hasattr(self, "hidden_coef_") and hasattr(self, "_stream"):
            missing = [
                label for label, m in zip(self.classes_.tolist(), self._stream, strict=True) if not m.n
            ]
            raise NotFittedError(
                f"{type(self).__name__} can predict once it has a row of every class; none of {missing} yet."
            )
        check_is_fitted(self)

    def _checked(self, X, y, *, first, dtypes):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=dtypes, reset=first)
        return X, codes_among(self.classes_, y)

    def _no_sums(self, X, codes):
        return GroupSums(no_moments(self._layer, X, codes, len(self.classes_)))

    def _add_rows(self, sums, X, codes, weights):
        return add_rows(sums, self._layer, X, codes, weights)

    def _names_of_sums(self):
        return [f"rows of class {label!r}" for label in self.classes_.tolist()]

    def _zero_sums(self):
        return ClassMoments(self._layer.where.shape[0])

    def _sums_over(self, classes):
        mine = dict(zip(self.classes_.tolist(), self._stream, strict=True))
        none = self._zero_sums()
        return GroupSums(mine.get(label, none) for label in classes.tolist())


class InBox(Additive):
    """A learner whose random hidden units are drawn in the box of the training rows, ``feature_range``."""

    _parameter_constraints: dict = {"feature_range": FEATURE_RANGE}

    def _needs(self):
        return Needs(box=isinstance(self.feature_range, str))

    def _layer_beside(self, X, survey, rng):
        layer = super()._layer_beside(X, survey, rng)
        if self.feature_range_ is not None:
            self.feature_range_ = like(self.feature_range_, layer.where)
        return layer

    def _box(self, survey: Survey) -> np.ndarray | None:
        """Compute and store the bounds of the features, shape (2, n_features); None for unscaled features."""
        if self.feature_range is None or isinstance(self.feature_range, str):
            self.feature_range_ = survey.box
        else:
            self.feature_range_ = given_box(self.feature_range, survey.n_features, type(self).__name__)
        return self.feature_range_

    def _refuse_drawn(self, X):
        if not isinstance(self.feature_range, str) or self.feature_range_ is None:
            return
        low, high = bounds = to_numpy(self.feature_range_)
        for block in row_blocks(*X.shape):
            rows = take_rows(X, block)
            rows = rows.toarray() if issparse(rows) else to_numpy(rows)
            attained = ((rows == low) | (rows == high)) & (low < high)
            for i, j in np.argwhere(attained):
                raise ValueError(
                    f"row {block.start + i} attains a bound of feature {j}, {bounds[:, j].tolist()}, which "
                    "feature_range='data' took from the rows and would keep; accepted: an estimator with a "
                    "given feature_range, or a new fit without the row."
                )

    def _box_sources(self, partition: Partition) -> list:
        """The rows to draw each layer from, and the training sets (``left_out``) that share it."""
        if self._needs().box:
            return [(partition.training(left_out), [left_out]) for left_out in partition.left_out]
        return [(slice(None), list(partition.left_out))]


class OnLandmarks(Additive):
    """A learner whose hidden units are kernel values with landmarks, which are drawn rows or given.

    ``_width`` is the name of the parameter that can be "scale".
    """

    _parameter_constraints: dict = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "landmarks": ["array-like", "sparse matrix", None],
    }
    _width: str

    def _needs(self):
        if self.landmarks is not None:
            return Needs()
        return Needs(self.n_landmarks, scale=self._is_scale() and not callable(self.kernel))

    def _is_scale(self) -> bool:
        width = getattr(self, self._width)
        return isinstance(width, str) and width == "scale"

    def _surveyed(self, survey: Survey) -> Survey:
        """The survey, with the given landmarks and their scale if there are any."""
        if self.landmarks is None:
            return survey
        landmarks = self.landmarks
        landmarks = to_numpy(landmarks) if hasattr(landmarks, "__dlpack__") else landmarks
        landmarks = check_array(landmarks, accept_sparse="csr", dtype=survey.dtype, input_name="landmarks")
        if landmarks.shape[1] != survey.n_features:
            raise ValueError(
                f"landmarks have {landmarks.shape[1]} features; accepted: {survey.n_features}, as in X."
            )
        scale = scale_gamma(landmarks) if self._is_scale() else None
        return replace(survey, landmarks=landmarks, scale=scale)

    def _n_landmarks(self, n_rows: int) -> int:
        """Number of landmarks if they are drawn from n_rows rows."""
        return min(self.n_landmarks, n_rows) if self.landmarks is None else np.shape(self.landmarks)[0]

    @property
    def landmarks_(self):
        """The landmarks."""
        return self._layer.landmarks

    def _refuse_drawn(self, X):
        if self.landmarks is not None:
            return
        if self._needs().scale:
            raise ValueError(
                f"{self._width}='scale' was measured on all rows and would keep their spread; accepted: "
                f"an estimator with a number as {self._width} or given landmarks, or a new fit without them."
            )
        drawn = set(_row_keys(self.landmarks_))
        for i, key in enumerate(_row_keys(X)):
            if key in drawn:
                raise ValueError(
                    f"row {i} is one of the landmarks, which were drawn from the rows; accepted: an "
                    "estimator with given landmarks, or a new fit without the row."
                )


def _row_keys(X) -> Iterator[tuple[bytes, bytes]]:
    """Keys of rows; equal for equal rows, dense or sparse."""
    X = csr_array(X if issparse(X) else to_numpy(X), dtype=np.float64)
    for start, stop in pairwise(X.indptr):
        yield X.indices[start:stop].astype(np.int64).tobytes(), X.data[start:stop].tobytes()
