"""Learners whose fit draws hidden units, sums over the rows and solves, for data in memory and streams."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from entrolearn.machines.base import OutputClassifier, OutputRegressor, codes_among, learn_stream_classes
from entrolearn.machines.boxes import FEWEST_ROWS, Landmarks, RandomUnits, Survey, warn_few_rows
from entrolearn.machines.devices import as_columns, in_double, like, with_enough_digits
from entrolearn.machines.moments import ClassMoments, no_moments
from entrolearn.machines.sums import GroupSums, Sums
from entrolearn.path import FAILURES, Partition, PathPoint, path, same_settings
from entrolearn.validation import (
    check_params,
    encode,
    numpy_dtype,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = [
    "Additive",
    "AdditiveClassifier",
    "AdditiveRegressor",
    "check_additive",
    "delete_sums",
    "draw_without_rows",
    "fit_sums",
    "fits_one_by_one",
    "path_on_layers",
    "solve",
    "stored_sums",
    "takes_chunks",
    "with_sums",
    "without_rows",
]


# Sums of a fit that ``store_sums="auto"`` keeps take less than this: 64 MB, two classes of 2,000 units.
STORED_BYTES = 64_000_000


def takes_chunks(machine: "Additive") -> bool:
    """Whether the learner has ``partial_fit`` and ``forget`` with its parameters."""
    return machine._takes_chunks()


class Additive:
    """A learner whose fit draws the hidden layer, computes sums over the rows, and solves for the readout.

    Sums of disjoint sets of rows can be added: ``fit`` computes them for all rows at once,
    :mod:`entrolearn.streaming` by chunks or on several hosts. A learner has three hooks: ``_units``, the
    hidden units to draw; ``_targets``, what the sums need of y; and ``_solve``, the readout of the sums. The
    others describe the kind of sums, which are those of :class:`AdditiveClassifier` or
    :class:`~entrolearn.machines.layered.LayeredRidge`, or refuse parameters.
    """

    store_sums: bool | str
    random_state: Any
    classes_: np.ndarray
    feature_names_in_: np.ndarray
    n_features_in_: int
    get_params: Callable
    _dtypes: tuple
    _n_outputs: int
    _one_value: bool
    _stream: GroupSums

    @abstractmethod
    def _units(self) -> RandomUnits | Landmarks:
        """The hidden units, and what is to be known of the rows to draw them."""

    @abstractmethod
    def _checked(self, X, y, *, first: bool = False, dtypes: Sequence = (np.float64,)) -> tuple[Any, Any]:
        """Validated rows and targets of a chunk; the first chunk sets the number of features."""

    @abstractmethod
    def _no_sums(self, X, targets) -> GroupSums:
        """Empty sums; X and targets are the first rows, to compute shifts from."""

    def _sums(self, X, targets, weights: np.ndarray | None) -> Any:
        """The sums over rows on the layer, for :meth:`_solve`."""
        return self._no_sums(X, targets).add_rows(self._layer, X, targets, weights)

    @abstractmethod
    def _zero_sums(self) -> Sums:
        """Sums of zero rows of one group, with a shift of zero."""

    @abstractmethod
    def _solve(self, sums: GroupSums, dtype=np.float64) -> dict:
        """The fitted attributes; raise TooFewDigits if rows of this dtype are not accurate enough."""

    def _sums_over(self, sums: GroupSums, classes: np.ndarray | None) -> GroupSums:
        """The sums for other classes: without the rows of those that are missing, with those without rows."""
        return sums

    def _names_of_sums(self) -> list[str]:
        """Names of the groups of rows in error messages."""
        return ["rows"]

    def _check_settings(self, in_chunks: bool, weights: np.ndarray | None = None) -> None:
        """Raise a ValueError for parameters that do not match ``classes_``, the weights or rows in chunks."""

    def _takes_chunks(self) -> bool:
        """Whether ``partial_fit`` and ``forget`` are available with these parameters."""
        return True

    def _warn(self, sums: GroupSums) -> None:
        """Warn, after a fit, about what is doubtful in the sums over all rows."""

    # --- fit ------------------------------------------------------------------------------------------------

    def _fit_dtypes(self) -> list:
        """Types in which a fit computes; to store the sums in any case, only double precision."""
        return [np.float64] if self.store_sums is True else list(self._dtypes)

    def _fit_outputs(self, X, targets, weights: np.ndarray | None) -> None:
        """Fit to rows in memory, in their precision if that is accurate enough, otherwise in double."""
        delete_sums(self)
        self._check_settings(self.store_sums is True, weights)

        def attempt(dtypes: list) -> None:
            rows = X if numpy_dtype(X) in dtypes else in_double(X)
            self._layer = self._draw_layer(rows, weights)
            self._finish(self._sums(rows, targets, weights), numpy_dtype(rows))

        with_enough_digits(attempt, [np.float64, np.float32])

    def _draw_layer(self, X, weights: np.ndarray | None = None, first_chunk: bool = False):
        """The hidden layer for rows in memory, on their device; for a stream, those of its first chunk."""
        rng, units = check_random_state(self.random_state), self._units()
        if first_chunk and units.in_box and X.shape[0] < FEWEST_ROWS:
            warn_few_rows(X.shape[0], type(self).__name__)
            survey = Survey(X.shape[1], numpy_dtype(X))
        else:
            survey = Survey.in_memory(X, units, rng, weights)
        return self._layer_from_survey(X, survey, rng)

    def _layer_from_survey(self, X, survey: Survey, rng: np.random.RandomState):
        """The hidden layer for rows with this survey, on the device of X."""
        layer, attributes = self._units().draw(survey, rng)
        layer = layer.beside(X)
        for name, value in attributes.items():
            setattr(self, name, None if value is None else like(value, layer.where))
        return layer

    def _finish(self, sums: GroupSums, dtype=np.float64) -> None:
        """Solve the sums over all rows of a fit, and store them if `store_sums` says so."""
        vars(self).update(self._solve(sums, dtype))
        if self._stores(sums, dtype):
            self._stream = sums
        self._warn(sums)

    def _stores(self, sums: Any, dtype) -> bool:
        """Whether a fit stores its sums; those of single precision would not update exactly."""
        if isinstance(self.store_sums, bool):
            return self.store_sums
        return isinstance(sums, GroupSums) and dtype == np.float64 and sums.nbytes < STORED_BYTES

    def __sklearn_is_fitted__(self):
        return hasattr(self, "hidden_coef_")

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "hidden_coef_") and hasattr(self, "_stream"):
            pairs = zip(self._names_of_sums(), self._stream, strict=True)
            missing = [name for name, sums in pairs if not sums.n]
            raise NotFittedError(
                f"{type(self).__name__} can predict once it has a row of every class; there are no "
                f"{', '.join(missing)} yet."
            )
        check_is_fitted(self)

    # --- updates --------------------------------------------------------------------------------------------

    def _begins(self, method: str = "partial_fit") -> bool:
        """Whether there are no sums yet, as in the first call of ``partial_fit``.

        Raises
        ------
        ValueError
            If the last fit did not store its sums.
        """
        if hasattr(self, "_stream"):
            return False
        if hasattr(self, "hidden_coef_"):
            raise ValueError(
                f"{type(self).__name__} was fitted without its sums (store_sums={self.store_sums!r}), so "
                f"that {method} has none to go on from; accepted: fit with store_sums=True, or a clone, "
                "which begins a new stream."
            )
        return True

    def _update(self, X, targets, sample_weight, decay: float) -> Self:
        """Add rows to the sums and solve them again; the first rows draw the layer.

        Raises
        ------
        ValueError
            If `decay` is not a number in (0, 1].
        """
        X, targets, weights = weighted_rows(X, targets, sample_weight)
        if not isinstance(decay, Real) or not 0 < decay <= 1:
            raise ValueError(f"decay={decay!r}; accepted: a number above 0, up to 1.")
        if not hasattr(self, "_stream"):
            self._layer = self._draw_layer(X, weights, first_chunk=True)
            self._stream = self._no_sums(X, targets)
        else:
            if decay < 1:
                self._stream *= decay
            if not self._stream.all_have_rows():  # the shift of a group is the mean of its first rows
                begun = zip(self._stream, self._no_sums(X, targets), strict=True)
                self._stream = GroupSums(sums if sums.n else new for sums, new in begun)
        self._stream.add_rows(self._layer, X, targets, weights)
        if self._stream.all_have_rows():
            vars(self).update(self._solve(self._stream))
        return self

    @available_if(takes_chunks)
    @validated(prefer_skip_nested_validation=False)
    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows from the fitted model.

        Up to rounding, the model then equals that of :meth:`fit` on the other rows with the same hidden
        layer. This requires the sums over the rows, which :meth:`partial_fit` stores, and :meth:`fit` and
        :func:`entrolearn.streaming.fit` as ``store_sums`` says. If no row of a class is left (or, for least
        squares, no row at all), the estimator is not fitted until :meth:`partial_fit` adds one.

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
        stored_sums(self, "forget")
        X, targets = self._checked(X, y, first=False, dtypes=[np.float64])
        X, targets, weights = weighted_rows(X, targets, sample_weight)
        self._units().check_forgettable(X, self)
        left = self._without(X, targets, weights)
        if not left["_stream"].all_have_rows():
            vars(self).pop("hidden_coef_", None)
        vars(self).update(left)
        return self

    def _without(self, X, targets, weights: np.ndarray | None) -> dict:
        """The attributes that change without these (validated) rows, with the same layer."""
        rows = self._stream.empty().add_rows(self._layer, X, targets, weights)
        rounding = np.maximum(getattr(self, "_rounding", 0.0), self._stream.rounding())
        sums = self._stream.without(rows, rounding, self._names_of_sums())
        fitted = self._solve(sums) if sums.all_have_rows() else {}
        return {**fitted, "_stream": sums, "_rounding": rounding}


class AdditiveClassifier(Additive, OutputClassifier):
    """A classifier whose sums are the moments of each class in the hidden space."""

    @available_if(takes_chunks)
    @validated(prefer_skip_nested_validation=False)
    def partial_fit(self, X, y, classes=None, sample_weight=None, decay=1.0) -> Self:
        """Update the model with more rows of a stream; available if no parameter needs all rows at once.

        The model then equals that of :meth:`fit` on all rows so far with the hidden layer of the first call,
        whatever the order of the rows and the sizes of the chunks. A layer that depends on rows (landmarks,
        or the box of the features) is drawn from the rows of the first call. A box needs at least five rows;
        with fewer, the features are not scaled, with a warning. EEM, EEKM and WELM can predict once they have
        a row of every class. All computations are in double precision, because rows are seen only once. After
        :meth:`fit`, the call updates the fitted model if its sums are stored, see ``store_sums``, and raises
        a ValueError otherwise.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur in the stream, at least two; required in the first call only.
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
            ``covariance`` that is an estimator), or the model was fitted without its sums.
        """
        first = self._begins()
        learn_stream_classes(self, classes)
        self._check_settings(in_chunks=True)
        X, codes = self._checked(X, y, first=first, dtypes=[np.float64])
        return self._update(X, codes, sample_weight, decay)

    def _checked(self, X, y, *, first=False, dtypes=(np.float64,)):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=list(dtypes), reset=first)
        return X, self._targets(codes_among(self.classes_, y), X)

    def _targets(self, codes, X):
        return codes

    def _no_sums(self, X, codes):
        return no_moments(self._layer, X, codes, len(self.classes_))

    def _names_of_sums(self):
        return [f"rows of class {label!r}" for label in self.classes_.tolist()]

    def _zero_sums(self) -> Sums:
        return ClassMoments(self._layer.n_units)

    def _sums_over(self, sums, classes):
        mine, none = dict(zip(self.classes_.tolist(), sums, strict=True)), self._zero_sums()
        return GroupSums(mine.get(label, none) for label in classes.tolist())


class AdditiveRegressor(Additive, OutputRegressor):
    """A regressor whose fit is a sum over the rows."""

    @available_if(takes_chunks)
    @validated(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, sample_weight=None, decay=1.0) -> Self:
        """Update the model with more rows of a stream; available if alpha is a single number.

        The model then equals that of :meth:`fit` on all rows so far with the hidden units of the first call.
        Random units are drawn in the box of the first call's rows (at least five; with fewer rows the
        features are not scaled, with a warning). After :meth:`fit`, the call updates the fitted model if
        its sums are stored, see ``store_sums``, and raises a ValueError otherwise.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
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
            If the number of outputs in y differs from the first call, `decay` is out of range, or the model
            was fitted without its sums.
        """
        X, T = self._checked(X, y, first=self._begins(), dtypes=[np.float64])
        return self._update(X, T, sample_weight, decay)

    def _checked(self, X, y, *, first=False, dtypes=(np.float64,)):
        checks = {"accept_sparse": "csr", "dtype": np.float64, "multi_output": True, "y_numeric": True}
        X, y = validate_data(self, X, y, reset=first, **checks)
        T = as_columns(y)
        if first:
            self._one_value, self._n_outputs = y.ndim == 1, T.shape[1]
        elif T.shape[1] != self._n_outputs:
            raise ValueError(
                f"y has {T.shape[1]} outputs for each row; the first rows had {self._n_outputs}."
            )
        return X, T


# --- for streams, merges and the influence of rows ----------------------------------------------------------


def check_additive(machine) -> None:
    """Raise TypeError unless the fit of a learner is a sum over the rows.

    Raises
    ------
    TypeError
    """
    if not isinstance(machine, Additive):
        raise TypeError(
            f"the fit of {type(machine).__name__} is no sum over rows; accepted: EEMClassifier, "
            "EEKMClassifier, WELMClassifier(solver='cholesky'), ELMClassifier, ELMRegressor, RKELMClassifier "
            "and RKELMRegressor; by streaming.fit also a recursive feature machine of one, or, unless Dask "
            "holds the rows, a pipeline that ends in one."
        )


def draw_without_rows(machine: Additive, n_features: int, n_outputs, one_value) -> None:
    """Draw hidden units that depend only on the parameters, for an estimator that is to get sums.

    Parameters
    ----------
    machine : Additive
    n_features : int
    n_outputs, one_value
        Number of outputs of a regressor, and whether its y has one dimension.

    Raises
    ------
    ValueError
        If a parameter is out of range, the units depend on rows, or landmarks have other features.
    """
    check_params(machine)
    if machine._units().n_sampled:
        raise ValueError(
            f"{type(machine).__name__} draws its hidden units from rows, and there are none; accepted: a "
            "fitted one, given bounds, or given landmarks and a number as gamma."
        )
    if not is_classifier(machine):
        machine._n_outputs, machine._one_value = n_outputs, one_value
    machine.n_features_in_ = n_features
    survey = Survey(n_features, np.dtype(np.float64))
    rng = check_random_state(machine.random_state)
    machine._layer = machine._layer_from_survey(np.empty((0, n_features)), survey, rng)


def fit_sums(machine: Additive, sums_of: Callable[[list], tuple], classes=None, dtypes=None) -> None:
    """Fit to sums over rows that are read in chunks, in double precision if single has too few digits.

    Parameters
    ----------
    machine : Additive
    sums_of : callable
        ``sums_of(dtypes)`` draws the layer and returns the sums; the dtype of the rows, one of these; and the
        labels of the rows, for a classifier.
    classes : array-like of shape (n_classes,), optional
        All labels, for a classifier.
    dtypes : list, optional
        Accepted dtypes. Default: those of ``fit``.

    Raises
    ------
    ValueError
        If a class has no rows.
    """
    if is_classifier(machine):
        machine.classes_, _ = encode(np.asarray(classes), type(machine).__name__)
    machine._check_settings(in_chunks=True)
    delete_sums(machine)

    def finish(accepted: list) -> None:
        sums, dtype, labels = sums_of(accepted)
        if is_classifier(machine) and len(missing := np.setdiff1d(machine.classes_, labels)):
            first, found = missing.tolist()[0], labels.tolist()
            raise ValueError(f"no row has the label {first!r}, which classes names; found: {found}.")
        machine._finish(sums, dtype)

    with_enough_digits(finish, dtypes or machine._fit_dtypes())


def delete_sums(machine: Additive) -> None:
    """Delete attributes of an earlier fit or stream that a new fit does not overwrite."""
    for stale in ("_stream", "_rounding", "loo_errors_"):
        vars(machine).pop(stale, None)


def stored_sums(machine: Additive, method: str) -> GroupSums:
    """The sums of a learner, for a method or function.

    Raises
    ------
    ValueError, NotFittedError
        If it has none.
    """
    if machine._begins(method):
        check_is_fitted(machine)
    return machine._stream


def with_sums(machine: Additive, sums: GroupSums, classes: np.ndarray | None = None) -> Additive:
    """A copy of a learner with other sums, and other classes if they are given; to be solved."""
    machine = copy(machine)
    delete_sums(machine)
    machine._stream = sums
    if classes is not None:
        machine.classes_ = classes
    return machine


def solve(machine: Additive) -> Additive:
    """Solve the sums of a learner; if a group has no rows, the learner is not fitted."""
    if machine._stream.all_have_rows():
        machine._finish(machine._stream)
    else:
        vars(machine).pop("hidden_coef_", None)
    return machine


def without_rows(machine: Additive, X, targets, weights: np.ndarray | None) -> Additive | None:
    """A copy without these (validated) rows, with the same layer; None if no row of a class is left."""
    left, without = machine._without(X, targets, weights), copy(machine)
    vars(without).update(left)
    return without if left["_stream"].all_have_rows() else None


# --- paths --------------------------------------------------------------------------------------------------

# Parameters that do not change the hidden units, or only their number.
OF_SOLUTION = {"n_hidden", "n_landmarks", "store_sums", "alpha", "solver", "class_weight"}
OF_SOLUTION |= {"covariance", "min_class_size", "priors"}


def path_on_layers(
    machines: Sequence[Additive], partition: Partition, solve_on: Callable, one_by_one: Callable
) -> Iterator[PathPoint]:
    """Fit candidates that share hidden layers on all training sets.

    Parameters
    ----------
    machines : sequence of Additive
        The candidates.
    partition : Partition
    solve_on : callable
        ``solve_on(largest, members, rows, left_outs)`` solves some candidates, given by their numbers, on
        some training sets with the layer that `largest` draws from some rows, and returns their path points.
    one_by_one : callable
        ``one_by_one(partition, members)`` fits candidates whose layer or sums cannot be computed.
    """
    settings = sorted(machines[0].get_params(deep=False).keys() - OF_SOLUTION)
    if not all(isinstance(getattr(machine, "n_landmarks", 0), Integral) for machine in machines):
        settings.append("n_landmarks")  # given landmarks are not a number of units
    for members in same_settings(machines, *settings):
        largest = max((machines[i] for i in members), key=lambda machine: machine._units().size)
        for rows, left_outs in largest._units().sources(partition):
            try:
                points = solve_on(largest, members, rows, left_outs)
            except FAILURES:
                yield from one_by_one(partition.only(left_outs), members)
            else:
                yield from points


def fits_one_by_one(estimator: Additive, X, y, grid: Sequence[dict]) -> Callable:
    """A function of a partition and numbers of candidates (all by default) that clones and fits each."""
    fit_each = path.dispatch(object)
    return lambda partition, members=None: fit_each(
        estimator, X, y, partition, grid if members is None else [grid[i] for i in members]
    )
