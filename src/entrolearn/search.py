"""Grid search with cross-validation whose fits share their computations."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from pickle import PicklingError
from typing import Any, Self

import joblib
import numpy as np
from scipy.special import expit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed

from entrolearn.path import FAILURES, Partition, PathPoint, path, place
from entrolearn.validation import canonical, is_numpy, one_thread_where_small

__all__ = ["PathSearchCV"]

# `score` methods that need nothing but the predictions.
SCORES_OF_PREDICTIONS = (ClassifierMixin.score, RegressorMixin.score)


class PathSearchCV(GridSearchCV):
    """:class:`~sklearn.model_selection.GridSearchCV` whose fits share their computations.

    All candidates are fitted on all training sets together, by :func:`entrolearn.path.path`: one pass over
    the rows gives the sums of every fold and every size of a hidden layer (EEM, EEKM, ELM, WELM, RKELM), and
    one kernel matrix serves every fold and every ridge or C (KELM, LS-SVM, RSVM, and scikit-learn's ``SVC``
    and ``SVR``). The last step of a :class:`~sklearn.pipeline.Pipeline` shares within each training set.
    Results are those of ``GridSearchCV``, which also makes every fit that cannot share: those of other
    estimators, with parameters of ``fit`` such as ``sample_weight``, and with a precomputed kernel.

    Parameters
    ----------
    estimator : estimator
        Its clones are fitted.
    param_grid : dict or list of dicts
        Parameter names and the values to try.
    scoring : str, callable, list, tuple, dict or None, default=None
        Scores of the predictions for the held-out rows; None: the estimator's ``score``.
    n_jobs : int or None, default=None
        Number of processes; each fits a part of the grid, so that fewer candidates share their computations.
    refit : bool, str or callable, default=True
        Whether, or by which of several scores, or by which function of ``cv_results_``, a candidate is
        selected and fitted to all rows.
    cv : int, splitter, iterable or None, default=None
        The splits.
    verbose : int, default=0
        How much is printed.
    pre_dispatch : int or str, default="2*n_jobs"
        Has no effect on fits that share.
    error_score : "raise" or number, default=np.nan
        The score of a candidate that cannot be fitted.
    return_train_score : bool, default=False
        Whether ``cv_results_`` has scores on the training rows.

    Attributes
    ----------
    cv_results_ : dict of arrays
        With the keys of ``GridSearchCV``. Candidates that share computations have no time of their own:
        ``mean_fit_time`` is the mean of all fits, and ``std_fit_time`` is 0.
    best_estimator_ : estimator
    best_score_ : float
    best_params_ : dict
    best_index_ : int
    scorer_ : callable or dict
    n_splits_ : int
    refit_time_ : float
    multimetric_ : bool
    classes_ : ndarray, shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (`n_features_in_`,)

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Describes all parameters and attributes.
    EntropySearch : Selects without held-out rows.

    Notes
    -----
    Folds share most if their hidden layers do: with `bounds` given (``"data"`` is the box of each
    training set), or with given landmarks. Landmarks that are drawn are training rows, as in ``fit``; a layer
    on them is shared by the candidates of a fold. All scores equal those of ``GridSearchCV`` with the same
    integer ``random_state`` to rounding errors.

    A ``random_state`` of the estimator that is None is set to a random seed at the start of ``fit``.

    The predictions of all candidates for their test rows are held until the end of the search. A value that
    a scorer needs and that shared fits do not give, such as ``predict_proba`` of most learners, is computed
    by fitting that candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from entrolearn import EEMClassifier, PathSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"n_hidden": [10, 50, 100]}
    >>> search = PathSearchCV(EEMClassifier(random_state=0), grid, scoring="balanced_accuracy").fit(X, y)
    >>> search.best_params_
    {'n_hidden': 100}
    """

    def fit(self, X, y=None, **params) -> Self:
        """Fit all candidates on all training sets, select the best one and refit it on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            Training data, in any form that the estimator accepts.
        y : array-like, shape (n_samples,)
            Labels or values.
        **params
            As in ``GridSearchCV``: ``groups`` of the splitter, and parameters of the estimator's ``fit``,
            with which fits share no computations.

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = indexable(X, y)
        of_split = {"groups": params.get("groups")}
        others: set = params.keys() - {"groups"}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            of_split, others = routed.splitter.split, {*routed.estimator.fit, *routed.scorer.score}
        if others or not _can_share(self.estimator, X, y):
            return super().fit(X, y, **params)

        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        numbers = np.arange(len(y))
        splits = [(numbers[train], numbers[test]) for train, test in cv.split(X, y, **of_split)]
        estimator = _with_seeds(self.estimator)
        fits = _SharedFits(self, estimator, X, y, splits)
        own = {"estimator": _Candidate(estimator, fits), "cv": splits, "n_jobs": None}
        scoring = _scorers(self, X)
        # The rows of the search inside are the numbers of our rows.
        search = GridSearchCV(**{**self.get_params(deep=False), **own, "scoring": scoring})
        search.fit(numbers, y)

        results = search.cv_results_
        results["mean_fit_time"] = np.full(len(results["params"]), results["mean_fit_time"].mean())
        results["std_fit_time"] = np.zeros(len(results["params"]))
        learnt = {name: value for name, value in vars(search).items() if name.endswith("_")}
        if self.refit:
            learnt["best_estimator_"] = search.best_estimator_.fitted()
        inside = search.scorer_
        if isinstance(inside, Mapping):
            learnt["scorer_"] = {name: each.scorer for name, each in inside.items()}
        else:
            learnt["scorer_"] = inside.scorer
        self.__dict__.update(learnt)
        return self


def _can_share(estimator: BaseEstimator, X, y) -> bool:
    """Whether fits of the estimator may share computations on these data."""
    last = estimator
    if isinstance(estimator, Pipeline) and estimator.steps:
        last = estimator.steps[-1][1]
    has_path = path.dispatch(type(last)) is not path.dispatch(object)
    if not has_path or get_tags(estimator).input_tags.pairwise:
        return False
    on_device = hasattr(X, "__dlpack__") and not is_numpy(X)
    return y is not None and not on_device and np.ndim(y) == 1


def _with_seeds(estimator: BaseEstimator) -> BaseEstimator:
    """A clone with every ``random_state`` set, so that candidates are compared on the same draw."""
    random = check_random_state(None)
    return clone(estimator).set_params(
        **{
            name: int(random.randint(np.iinfo(np.int32).max))
            for name, value in estimator.get_params().items()
            if value is None and name.split("__")[-1] == "random_state"
        }
    )


def _scorers(search: GridSearchCV, X):
    """The scoring of a search, for candidates whose rows are numbers of rows of X."""
    scoring = search.scoring
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return _ScorerOfRows(check_scoring(search.estimator, scoring), X)
    check_scoring(search.estimator, scoring)
    named = scoring if isinstance(scoring, Mapping) else {name: name for name in scoring}
    return {name: _ScorerOfRows(get_scorer(each), X) for name, each in named.items()}


class _ScorerOfRows:
    """A scorer to be called with the numbers of the rows, which it passes on as rows."""

    def __init__(self, scorer, X):
        self.scorer, self.X = scorer, X

    def __call__(self, candidate: "_Candidate", rows: np.ndarray, y):
        X = _safe_indexing(self.X, rows)
        return self.scorer(candidate.about(X, rows), X, y)


class _SharedFits:
    """Predictions of all candidates on all training sets, computed when the first of them is needed."""

    def __init__(self, search: GridSearchCV, estimator: BaseEstimator, X, y, splits: Sequence[tuple]):
        self.search, self.estimator, self.X, self.y, self.splits = search, estimator, X, y, splits

    def find(self, params: dict, rows: np.ndarray) -> dict:
        """What is known of a candidate fitted on these rows: values by the names of methods, or nothing."""
        key = _key(params)
        return {} if key is None else self._found.get((key, rows.tobytes()), {})

    @cached_property
    def _found(self) -> dict[tuple[str, bytes], dict]:
        found: dict[tuple[str, bytes], dict] = {}
        X, y = canonical(self.X), np.asarray(self.y)
        grid, n_jobs = list(ParameterGrid(self.search.param_grid)), self.search.n_jobs
        keys = [_key(params) for params in grid]
        pieces = np.array_split(np.arange(len(grid)), min(joblib.effective_n_jobs(n_jobs), len(grid)))
        every_row = self.search.return_train_score
        classes = [{"classes_": np.unique(y[train])} for train, _ in self.splits]
        for partition in _partitions(self.splits, len(y), every_row=every_row):
            given = [(self.estimator, X, y, partition, [grid[i] for i in piece]) for piece in pieces]
            for piece, points in zip(
                pieces, Parallel(n_jobs=n_jobs)(delayed(_points)(*each) for each in given), strict=True
            ):
                for i, (number,), known in points:
                    key, train = keys[piece[i]], self.splits[number][0].tobytes()
                    if key is not None:
                        found[key, train] = known | classes[number]
        return found


def _key(params: dict) -> str | None:
    """Key of a candidate, equal for its clones; None if it has none, such as a kernel that is a lambda."""
    try:
        return joblib.hash(params)
    except (PicklingError, AttributeError, TypeError):
        return None


def _points(
    estimator: BaseEstimator, X, y: np.ndarray, partition: Partition, grid: Sequence[dict]
) -> list[tuple[int, tuple[int, ...], dict]]:
    """What each candidate says on each training set; candidates that failed are fitted again, to raise."""
    found = []
    every = np.arange(len(y))
    asked: dict[tuple[int, ...], Any] = {
        left_out: every if partition.asked is None else partition.predicted(left_out)
        for left_out in partition.left_out
    }
    try:
        with one_thread_where_small(X, estimator.get_params(), *grid):
            for point in path(estimator, X, y, partition, grid):
                if not point.error:
                    known = _known(point, estimator, asked[point.left_out])
                    found.append((place(point.params, grid), point.left_out, known))
    except FAILURES:
        pass
    return found


def _known(point: PathPoint, estimator: BaseEstimator, rows: np.ndarray) -> dict:
    if point.fitted is not None:
        return {"fitted": point.fitted}
    known = {"rows": rows, "predict": point.prediction[rows]}
    if point.log_odds is not None:
        known["decision_function"] = log_odds = point.log_odds[rows]
        known["predict_proba"] = expit(np.column_stack([-log_odds, log_odds]))
    elif point.projection is not None and not hasattr(estimator, "project"):
        known["decision_function"] = point.projection[rows]
    return known


def _partitions(
    splits: Sequence[tuple[np.ndarray, np.ndarray]], n_samples: int, *, every_row: bool
) -> Iterator[Partition]:
    """Partitions of the rows, each with the fits of some splits; a fit leaves out the number of its split.

    Consecutive splits are in one partition while they leave out different rows, as the folds of one
    cross-validation do: the sums of a part are then computed once. Splits that repeat training rows, or
    leave out none, are in no partition.
    """
    together: list[list[tuple[int, np.ndarray]]] = []
    taken = np.zeros(n_samples, dtype=bool)
    for number, (train, _) in enumerate(splits):
        outside = np.ones(n_samples, dtype=bool)
        outside[train] = False
        if not outside.any() or len(train) + outside.sum() != n_samples:
            continue
        if not together or (taken & outside).any():
            together.append([])
            taken[:] = False
        taken |= outside
        together[-1].append((number, outside))
    for members in together:
        part = np.full(n_samples, -1)
        for number, outside in members:
            part[outside] = number
        left_out = tuple((number,) for number, _ in members)
        held_out = all(outside[splits[number][1]].all() for number, outside in members)
        yield Partition(part, left_out, left_out if held_out and not every_row else None)


def _has(name: str):
    return available_if(lambda candidate: hasattr(candidate.estimator, name))


class _Candidate:
    """A candidate as the search inside fits and scores it: its rows are numbers of rows of the data.

    Predictions that the shared fits gave are looked up. Anything else that a scorer needs is that of the
    estimator, which is fitted then.
    """

    def __init__(self, estimator: BaseEstimator, shared: _SharedFits):
        self.estimator, self.shared = estimator, shared
        self.params: dict = {}
        self.asked: tuple = ()

    def __sklearn_clone__(self) -> "_Candidate":
        return _Candidate(clone(self.estimator), self.shared)

    def __sklearn_tags__(self):
        return get_tags(self.estimator)

    def get_params(self, deep: bool = True) -> dict:
        return self.estimator.get_params(deep)

    def set_params(self, **params) -> Self:
        self.params = clone(params, safe=False)
        self.estimator.set_params(**params)
        return self

    def fit(self, rows: np.ndarray, y) -> Self:
        self.rows, self.known = rows, self.shared.find(self.params, rows)
        if not self.known:
            self.fitted()
        return self

    def fitted(self) -> BaseEstimator:
        """The estimator, fitted when first needed."""
        if "fitted" not in self.known:
            X, y = (_safe_indexing(each, self.rows) for each in (self.shared.X, self.shared.y))
            self.known = {**self.known, "fitted": self.estimator.fit(X, y)}
        return self.known["fitted"]

    def about(self, X, rows: np.ndarray) -> "_Candidate":
        """This candidate, asked about these rows of the data."""
        asked = copy(self)
        asked.asked = X, rows
        return asked

    @_has("predict")
    def predict(self, X) -> np.ndarray:
        return self._answer("predict", X)

    @_has("decision_function")
    def decision_function(self, X) -> np.ndarray:
        return self._answer("decision_function", X)

    @_has("predict_proba")
    def predict_proba(self, X) -> np.ndarray:
        return self._answer("predict_proba", X)

    @_has("score")
    def score(self, X, y, **params) -> float:
        last = self.estimator[-1] if isinstance(self.estimator, Pipeline) else self.estimator
        score = type(last).score
        if score in SCORES_OF_PREDICTIONS:
            return score(self, X, y, **params)
        return self.fitted().score(X, y, **params)

    def _answer(self, method: str, X) -> np.ndarray:
        about, rows = self.asked
        if method in self.known and X is about and np.isin(rows, self.known["rows"]).all():
            return self.known[method][np.searchsorted(self.known["rows"], rows)]
        return getattr(self.fitted(), method)(X)

    def __getattr__(self, name: str):
        # A method of this class comes here if the estimator does not have it.
        if name.startswith("_") or name == "known" or hasattr(type(self), name):
            raise AttributeError(name)
        return self.known[name] if name in self.known else getattr(self.fitted(), name)
