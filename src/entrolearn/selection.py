"""Parameter search by the divergence of the two projected classes, without held-out data."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Self

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import rankdata
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from entrolearn.measures import cauchy_schwarz_gaussian, cauchy_schwarz_kde, silverman_bandwidth
from entrolearn.path import (
    Partition,
    PathPoint,
    path,
    place,
)
from entrolearn.suggest import did_you_mean
from entrolearn.validation import canonical, check_labels, one_thread_where_small

__all__ = ["CRITERIA", "EntropySearch", "best_point", "entropy_criterion"]


def entropy_criterion(point: PathPoint, y, rows, kind: str) -> float:
    """Cauchy–Schwarz divergence of the two classes in a model's projection.

    Parameters
    ----------
    point : PathPoint
        Projection of a fitted binary classifier.
    y : ndarray, shape (n_samples,)
        Labels of all rows of the projection; the larger label is the positive class.
    rows : ndarray of int
        Indices of the rows to compare: the training rows of the model.
    kind : {"gaussian", "kde"}
        "gaussian" compares the model's own Gaussians if it has them (``point.gaussians``), otherwise
        Gaussians with the mean and variance (``ddof=0``) of each projected class. "kde" compares kernel
        density estimates of the projected classes. To make variances at rounding level comparable, eps times
        the variance of the projection is added to each nonzero variance of a class or of its kernels.

    Returns
    -------
    float
        In nats. It is +inf if one class is projected to a single point that the other class does not lie on.
        It is NaN if the classes cannot be compared: the fit failed, the model has no projection, the
        projection is constant or not finite, or `rows` has a single class.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, section 7.4: "gaussian" is the criterion of Table 9 (whose
    caption gives EEM's variances), "kde" is eq. (5), that of Table 10.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.path import PathPoint
    >>> from entrolearn.selection import entropy_criterion
    >>> point = PathPoint((), {}, projection=np.array([-1.0, 1.0, 3.0, 5.0]))
    >>> round(entropy_criterion(point, np.array([0, 0, 1, 1]), np.arange(4), "gaussian"), 12)
    8.0
    """
    return _criterion(kind)(point, np.asarray(y), np.asarray(rows))


def _gaussian_criterion(point: PathPoint, y: np.ndarray, rows: np.ndarray) -> float:
    classes = _projected_classes(point, y, rows)
    if classes is None:
        return math.nan
    if point.gaussians is not None:
        mean_neg, variance_neg, mean_pos, variance_pos = point.gaussians
    else:
        least = _least_variance(classes)
        (mean_neg, variance_neg), (mean_pos, variance_pos) = (
            _mean_and_variance(sample, least) for sample in classes
        )
    known = np.isfinite([mean_neg, variance_neg, mean_pos, variance_pos]).all()
    if not known or variance_neg < 0 or variance_pos < 0:
        return math.nan
    return cauchy_schwarz_gaussian(mean_pos, variance_pos, mean_neg, variance_neg)


def _kde_criterion(point: PathPoint, y: np.ndarray, rows: np.ndarray) -> float:
    classes = _projected_classes(point, y, rows)
    if classes is None:
        return math.nan
    least = math.sqrt(_least_variance(classes))
    widths = [silverman_bandwidth(sample) for sample in classes]
    return cauchy_schwarz_kde(*classes, bandwidth=[w and math.hypot(w, least) or "silverman" for w in widths])


#: Name -> function of a path point, the labels and the training rows.
CRITERIA: dict[str, Callable[[PathPoint, np.ndarray, np.ndarray], float]] = {
    "gaussian": _gaussian_criterion,
    "kde": _kde_criterion,
}


def _criterion(kind: str) -> Callable[[PathPoint, np.ndarray, np.ndarray], float]:
    if kind not in CRITERIA:
        raise ValueError(
            f"unknown criterion {kind!r}{did_you_mean(kind, CRITERIA)}; known: {_listed(CRITERIA)}"
        )
    return CRITERIA[kind]


def _projected_classes(point: PathPoint, y: np.ndarray, rows: np.ndarray) -> list[np.ndarray] | None:
    """The projections of the negative and the positive training rows, or None if they are not comparable."""
    if point.projection is None:
        return None
    projection, y = np.asarray(point.projection, dtype=np.float64)[rows], y[rows]
    labels = np.unique(y)
    if len(labels) != 2 or not np.isfinite(projection).all() or np.ptp(projection) == 0:
        return None
    return [projection[y == label] for label in labels]


def _least_variance(classes: list[np.ndarray]) -> float:
    """The amount to add to the nonzero variances of the classes, below which a variance is rounding error.

    If a class is projected to one point, its variance is rounding error, such as 1e-26 on one processor and
    2e-26 on another.
    """
    return float(np.finfo(np.float64).eps * np.concatenate(classes).var())


def _mean_and_variance(sample: np.ndarray, least: float) -> tuple[float, float]:
    # Subtract one of the points first: equal points then have a variance of exactly zero.
    deviation = sample - sample[0]
    variance = float(deviation.var())
    return float(sample[0] + deviation.mean()), variance and variance + least


def best_point(values, tie_breaker=None) -> int:
    """Index of the best grid point.

    The largest value wins; NaN is never selected. Equal values, including several +inf, are ranked by the
    larger `tie_breaker`, then by their order.

    Parameters
    ----------
    values : array-like, shape (n_points,)
        The criterion of each grid point.
    tie_breaker : array-like, shape (n_points,), optional
        A second criterion; NaN counts as the smallest.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If all values are NaN, or `values` is empty.

    Examples
    --------
    >>> from entrolearn.selection import best_point
    >>> best_point([1.0, float("inf"), float("inf"), float("nan")], tie_breaker=[9.0, 2.0, 3.0, 4.0])
    2
    """
    values = np.asarray(values, dtype=np.float64)
    if np.isnan(values).all():
        raise ValueError(f"no candidate to select: all {values.size} values are NaN")
    best = np.flatnonzero(values == np.nanmax(values))
    if tie_breaker is None:
        return int(best[0])
    tie_breaker = np.asarray(tie_breaker, dtype=np.float64)[best]
    return int(best[np.argmax(np.where(np.isnan(tie_breaker), -np.inf, tie_breaker))])


def _delegates(name: str):
    """Make a method available if the estimator, or after ``fit`` the best estimator, has it."""
    return available_if(lambda search: hasattr(getattr(search, "best_estimator_", search.estimator), name))


class EntropySearch(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Grid search for a binary classifier by the divergence of the projected classes.

    Each candidate is fitted once, on all data. The candidate whose projected classes have the largest
    Cauchy–Schwarz divergence on the same data is selected and refitted. There is no cross-validation and no
    held-out data.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with ``decision_function`` (or ``project``), or a pipeline that ends in one.
    param_grid : dict or list of dicts
        Parameter names and the values to try, as in :class:`sklearn.model_selection.GridSearchCV`.
    criterion : {"gaussian", "kde"}, default="gaussian"
        Density estimates of the projected classes, see :func:`entropy_criterion`.
    n_jobs : int or None, default=None
        Number of processes; each fits a part of the grid. Candidates of the same part may share computations,
        so that for learners of this library one process is often as fast.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        The criterion of the selected candidate, in nats; may be +inf.
    best_index_ : int
        Index of the selected candidate in ``cv_results_``.
    best_estimator_ : estimator
        Fitted with ``best_params_`` on all data.
    cv_results_ : dict of arrays, each of shape (n_points,)
        Results in the order of the grid, in the format of :class:`sklearn.model_selection.GridSearchCV` for
        one split whose test rows are the training rows: ``params`` (a list), ``param_*``,
        ``split0_test_score``, ``mean_test_score``, ``std_test_score`` and ``rank_test_score``; the score is
        the criterion. Further keys are ``gaussian`` (which also breaks ties), ``kde`` if it is the criterion,
        ``note`` and ``error``. A candidate that failed, or that projects all rows to one point, has the score
        NaN, ranks last and is never selected. There are no times, because candidates share computations.
    classes_ : ndarray, shape (2,)
    n_features_in_ : int
        Defined if the fitted estimator has it.
    feature_names_in_ : ndarray, shape (`n_features_in_`,)
        Defined if the training data had feature names.

    Notes
    -----
    At the start of ``fit``, every ``random_state`` that is None is set to a random seed, also in pipeline
    steps and in estimators that the grid contains. The refitted model is therefore the one that was selected,
    and not another random draw. Set ``random_state`` to control these seeds.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, section 7.4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from entrolearn.selection import EntropySearch
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = make_pipeline(StandardScaler(), LogisticRegression())
    >>> search = EntropySearch(machine, {"logisticregression__C": [0.001, 0.1, 10.0]}).fit(X, y)
    >>> search.best_params_
    {'logisticregression__C': 0.1}
    """

    def __init__(self, estimator, param_grid, *, criterion="gaussian", n_jobs=None):
        self.estimator = estimator
        self.param_grid = param_grid
        self.criterion = criterion
        self.n_jobs = n_jobs

    def fit(self, X, y, **params) -> Self:
        """Fit every candidate, select the best one and refit it.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            Training data, in any form that the estimator accepts.
        y : array-like, shape (n_samples,)
            Labels of two classes.
        **params
            Parameters of the estimator's ``fit``, such as ``sample_weight``; with metadata routing, those
            that it requests. Candidates then share no computations. Sample weights apply to the fits,
            including the Gaussians that EEM and EEKM estimate themselves. In all other cases the criterion
            is not weighted, like the score of :class:`sklearn.model_selection.GridSearchCV`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the criterion or a parameter is unknown, the grid is empty, `y` does not have two classes, or
            no candidate could be fitted and compared.
        TypeError
            If the estimator has neither ``decision_function`` nor ``project``.
        """
        _criterion(self.criterion)
        grid = _checked_grid(self.estimator, self.param_grid)
        X, y = indexable(X, _checked_labels(self, y))
        X = canonical(X)  # not every estimator sums duplicate entries of a sparse matrix
        estimator, seeded = _with_seeds(self.estimator, grid)

        params = self._routed("fit", params)
        kinds = tuple(dict.fromkeys(("gaussian", self.criterion)))
        pieces = np.array_split(np.arange(len(seeded)), min(effective_n_jobs(self.n_jobs), len(seeded)))
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_measured)(estimator, X, y, [seeded[i] for i in piece], params, kinds) for piece in pieces
        )
        self.cv_results_ = _results(grid, sum(found, []), self.criterion)
        scores = self.cv_results_[self.criterion]
        if np.isnan(scores).all():
            raise ValueError(_why_none(self.cv_results_["error"], params))

        self.best_index_ = best_point(scores, self.cv_results_["gaussian"])
        self.best_score_ = float(scores[self.best_index_])
        self.best_params_ = grid[self.best_index_]
        chosen = clone(seeded[self.best_index_], safe=False)
        self.best_estimator_ = clone(estimator).set_params(**chosen).fit(X, y, **params)
        self.classes_ = np.unique(y)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    @_delegates("predict")
    def predict(self, X) -> np.ndarray:
        """Class labels predicted by the best estimator.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,)
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(canonical(X))

    @_delegates("predict_proba")
    def predict_proba(self, X) -> np.ndarray:
        """Class probabilities predicted by the best estimator, if it has ``predict_proba``.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(canonical(X))

    @_delegates("predict_log_proba")
    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the class probabilities, if the best estimator has ``predict_log_proba``.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_log_proba(canonical(X))

    @_delegates("decision_function")
    def decision_function(self, X) -> np.ndarray:
        """Decision values of the best estimator, if it has ``decision_function``.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        return self.best_estimator_.decision_function(canonical(X))

    @_delegates("score")
    def score(self, X, y, **params) -> float:
        """Score of the best estimator, by its own ``score`` method.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
        **params
            Parameters of its ``score``, such as ``sample_weight``; with metadata routing, those that it
            requests.

        Returns
        -------
        float
            The accuracy for most classifiers.
        """
        check_is_fitted(self)
        return self.best_estimator_.score(canonical(X), y, **self._routed("score", params))

    def _routed(self, method: str, params: dict) -> dict:
        """The parameters to pass to the estimator's method."""
        if not params or not get_config()["enable_metadata_routing"]:
            return params
        return process_routing(self, method, **params).estimator[method]

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of the parameters of ``fit`` and ``score`` to those of the estimator.

        Returns
        -------
        MetadataRouter
        """
        to_own = MethodMapping().add(caller="fit", callee="fit").add(caller="score", callee="score")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=to_own)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.input_tags = own.input_tags
        tags.non_deterministic = own.non_deterministic
        tags.classifier_tags.poor_score = own.classifier_tags is not None and own.classifier_tags.poor_score
        tags.classifier_tags.multi_class = False
        return tags


def _checked_grid(estimator: BaseEstimator, param_grid) -> list[dict]:
    """The candidates of the grid; raise if a parameter is unknown or an estimator has no projection."""
    if isinstance(param_grid, Mapping | Sequence) and len(param_grid) == 0:
        raise ValueError("param_grid is empty; it must name at least one parameter and the values to try")
    grid = list(ParameterGrid(param_grid))
    for params in grid:
        _check_point(estimator, params)
    return grid


def _check_point(estimator: BaseEstimator, params: dict) -> None:
    candidate = clone(estimator)
    name_of_estimator = type(candidate).__name__
    try:
        candidate.set_params(**clone(params, safe=False))
    except ValueError:
        known = candidate.get_params()
        unknown = next((name for name in params if name not in known), None)
        if unknown is None:
            raise
        raise ValueError(
            f"{name_of_estimator} has no parameter {unknown!r}{did_you_mean(unknown, known)}; "
            f"it has: {_listed(known)}"
        ) from None
    last = candidate[-1] if isinstance(candidate, Pipeline) else candidate
    if not (hasattr(last, "decision_function") or hasattr(last, "project")):
        raise TypeError(
            f"{type(last).__name__} has neither decision_function nor project, so EntropySearch "
            "has no projection to compare"
        )


def _checked_labels(search: EntropySearch, y) -> np.ndarray:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_labels(y)
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}"
            + (f" with {len(np.unique(y))} classes." if kind == "multiclass" else ".")
        )
    if len(np.unique(y)) < 2:
        raise ValueError(f"{type(search).__name__} needs samples of two classes; y has one class only")
    return y


def _with_seeds(estimator: BaseEstimator, grid: Sequence[dict]) -> tuple[BaseEstimator, list[dict]]:
    """A clone and its grid with every ``random_state`` set, so that a refit gives the same model.

    This includes a ``random_state`` that the grid sets to None, or that belongs to an estimator in the grid.
    """
    random = check_random_state(None)
    drawn: dict[str, int] = {}

    def missing(candidate: BaseEstimator) -> dict[str, int]:
        return {
            name: drawn.setdefault(name, int(random.randint(np.iinfo(np.int32).max)))
            for name, value in candidate.get_params().items()
            if value is None and name.split("__")[-1] == "random_state"
        }

    estimator = clone(estimator)
    estimator.set_params(**missing(estimator))
    candidates = [clone(estimator).set_params(**clone(params, safe=False)) for params in grid]
    return estimator, [params | missing(each) for params, each in zip(grid, candidates, strict=True)]


def _measured(
    estimator: BaseEstimator, X, y: np.ndarray, grid: Sequence[dict], fit_params: dict, kinds: Sequence[str]
) -> list[dict]:
    """The criteria, note and error of each candidate."""
    found: list[dict] = [{} for _ in grid]
    rows = np.arange(len(y))
    with one_thread_where_small(X, estimator.get_params(), *grid):
        for point in path(estimator, X, y, Partition.whole(len(y)), grid, **fit_params):
            criteria = {kind: entropy_criterion(point, y, rows, kind) for kind in kinds}
            found[place(point.params, grid)] = {**criteria, "note": point.note, "error": point.error}
    return found


def _results(grid: Sequence[dict], found: Sequence[dict], criterion: str) -> dict:
    """The results as ``cv_results_``, with the keys of scikit-learn's searches."""
    results: dict = {"params": list(grid)}
    for name in sorted({name for params in grid for name in params}):
        values = np.ma.MaskedArray(np.empty(len(grid), dtype=object), mask=True)
        for i, params in enumerate(grid):
            if name in params:
                values[i] = params[name]
        results[f"param_{name}"] = values
    scores = np.array([each[criterion] for each in found])
    ranks = rankdata(np.where(np.isnan(scores), np.inf, -scores), method="min").astype(np.int32)
    results |= {
        "split0_test_score": scores,
        "mean_test_score": scores,
        "std_test_score": np.where(np.isnan(scores), np.nan, 0.0),
        "rank_test_score": ranks,
    }
    for name in found[0]:
        dtype = object if name in ("note", "error") else np.float64
        results[name] = np.array([each[name] for each in found], dtype=dtype)
    return results


def _why_none(errors: Sequence[str], fit_params: Mapping) -> str:
    reason = next(filter(None, errors), None)
    why = "they project all training rows to one point" if reason is None else f"the first reason: {reason}"
    given = f" with {_listed(fit_params)}" if fit_params else ""
    return f"{len(errors)} of {len(errors)} candidates cannot be selected{given}; {why}"


def _listed(names) -> str:
    return ", ".join(sorted(names))
