"""The learners of the boards: import paths, parameters that differ from the defaults, and tuned parameters.

Import paths are resolved when a learner is built, so the table can be read without the peers, which
`make board-env` installs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import ParameterSampler
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from entrolearn import EEKMClassifier, EEMClassifier, RKELMRegressor

N_CONFIGURATIONS = 10  # including the defaults


@dataclass(frozen=True)
class Learner:
    """A learner of the boards: import paths of classes or of functions, fixed parameters and search space.

    The space maps parameters to values or a distribution; those that the classifier or the regressor lacks
    are left out. A learner with an empty space is not tuned.
    """

    classifier: str | None
    regressor: str | None = None
    ours: bool | None = False  # of this library; None for one of it that equals a learner of scikit-learn
    only_tuned: bool = False  # not compared at its defaults
    params: Mapping = field(default_factory=dict)  # always set, such as threads and verbosity
    space: Mapping = field(default_factory=dict)


def nystroem_lda() -> BaseEstimator:
    """A pipeline of Nyström features and linear discriminant analysis with shrinkage."""
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return make_pipeline(Nystroem(n_components=250), lda)


def nystroem_ridge_classifier() -> BaseEstimator:
    """A pipeline of Nyström features and a ridge classifier."""
    return make_pipeline(Nystroem(n_components=250), RidgeClassifier())


def nystroem_ridge() -> BaseEstimator:
    """A pipeline of Nyström features and ridge regression."""
    return make_pipeline(Nystroem(n_components=250), Ridge())


def _ours(classifier: str | None, regressor: str | None = None, **space) -> Learner:
    paths = (path and f"entrolearn.{path}" for path in (classifier, regressor))
    return Learner(*paths, ours=True, space=space)


_HERE = "benchmarks.board.learners"
_WIDTHS = ["scale", 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]  # gamma, for standardised features
_RKELM_WIDTHS = ["scale", 2.0, 1.0, 0.5, 0.25, 0.125, 0.0625]
_UNITS = [50, 100, 250, 500, 1000]
_FEATURE_BASES = [
    None,
    EEKMClassifier(100, kernel="exponential_power"),
    EEKMClassifier(600, kernel="exponential_power"),
    EEKMClassifier(300),
    RKELMRegressor(100, kernel="exponential_power"),
    RKELMRegressor(600, kernel="exponential_power"),
    RKELMRegressor(300),
]
_RFM = {"metric": ["diagonal", "auto"], "n_rounds": [1, 2, 3, 5]}
_BOOSTING = {"learning_rate": loguniform(0.02, 0.3), "n_estimators": [50, 100, 200, 400]}

#: Name -> learner; the names are those of docs/board/*.csv.
LEARNERS: dict[str, Learner] = {
    "EEM": _ours(
        "EEMClassifier", n_hidden=_UNITS, unit_scale=["uniform", "log-uniform"], activation=["rbf", "sigmoid"]
    ),
    "EEKM": _ours(
        "EEKMClassifier",
        n_landmarks=[50, 100, 250, 500],
        gamma=_WIDTHS,
        kernel=["rbf", "exponential_power"],
    ),
    "RFM": _ours("RecursiveFeatureClassifier", "RecursiveFeatureRegressor", estimator=_FEATURE_BASES, **_RFM),
    "RFM on EEM": Learner(f"{_HERE}.rfm_on_eem", ours=True, space={**_RFM, "estimator__n_hidden": _UNITS}),
    "LS-SVM": _ours("LSSVC", "LSSVR", alpha=loguniform(0.001, 100), gamma=_WIDTHS),
    "KELM": _ours("KELMClassifier", "KELMRegressor", alpha=loguniform(1e-4, 10), gamma=_RKELM_WIDTHS),
    "RKELM": _ours(
        "RKELMClassifier",
        "RKELMRegressor",
        alpha=loguniform(1e-6, 1),
        gamma=_RKELM_WIDTHS,
        n_landmarks=[50, 100, 250, 500],
    ),
    "ELM": _ours("ELMClassifier", "ELMRegressor", n_hidden=[50, 100, 250], alpha=loguniform(1e-6, 10)),
    "WELM": _ours("WELMClassifier", n_hidden=[50, 100, 250], alpha=loguniform(1e-6, 10), solver=["cholesky"]),
    "RSVM": _ours("RSVC", "RSVR", C=loguniform(0.01, 1000), gamma=_WIDTHS, n_landmarks=[50, 100, 250]),
    "one-norm SVM": _ours("OneNormSVC", "OneNormSVR", C=loguniform(0.01, 1000), gamma=_WIDTHS),
    "CE SVM": _ours("CrossEntropySVC", "CrossEntropySVR"),
    "KDE": _ours(
        "KDEClassifier", bandwidth_scale=loguniform(0.2, 5), covariance=["ledoit_wolf", "empirical"]
    ),
    "MELM": _ours("MELM", n_components=[1, 2, 3, 5], bandwidth_scale=loguniform(0.2, 5)),
    "softmax": Learner(
        "entrolearn.networks.SoftmaxRegression", ours=None, space={"alpha": loguniform(1e-6, 1)}
    ),
    "MaxEnt": Learner(
        "entrolearn.maxent.MaxEntClassifier", ours=None, space={"alpha": loguniform(1e-3, 1e3)}
    ),
    "MLP (squared error)": _ours(
        "networks.MSEMLPClassifier",
        "networks.MSEMLPRegressor",
        n_hidden=[20, 50, 100, 200],
        batch_size=[16, 32, 64],
    ),
    "MLP (error entropy)": _ours(
        "ErrorEntropyMLPClassifier",
        "ErrorEntropyMLPRegressor",
        n_hidden=[5, 10, 20, 50],
        bandwidth=loguniform(0.2, 3),
    ),
    "LightGBM": Learner(
        "lightgbm.LGBMClassifier",
        "lightgbm.LGBMRegressor",
        params={"n_jobs": 1, "verbose": -1},
        space={
            **_BOOSTING,
            "num_leaves": [7, 15, 31, 63],
            "min_child_samples": [5, 10, 20, 40],
            "colsample_bytree": uniform(0.4, 0.6),
            "reg_lambda": loguniform(1e-3, 10),
        },
    ),
    "XGBoost": Learner(
        "xgboost.XGBClassifier",
        "xgboost.XGBRegressor",
        params={"n_jobs": 1},
        space={
            **_BOOSTING,
            "max_depth": [2, 3, 4, 6, 8],
            "min_child_weight": loguniform(0.5, 20),
            "subsample": uniform(0.5, 0.5),
            "colsample_bytree": uniform(0.4, 0.6),
            "reg_lambda": loguniform(1e-2, 10),
        },
    ),
    "CatBoost": Learner(
        "catboost.CatBoostClassifier",
        "catboost.CatBoostRegressor",
        params={"thread_count": 1, "verbose": False, "allow_writing_files": False, "random_seed": 0},
        space={
            "learning_rate": loguniform(0.02, 0.3),
            "iterations": [100, 200, 400],
            "depth": [4, 6, 8],
            "l2_leaf_reg": loguniform(0.5, 20),
        },
    ),
    "xRFM": Learner(
        "benchmarks.board.peers.XRFMClassifier",
        "benchmarks.board.peers.XRFMRegressor",
        space={
            "kernel": ["l2", "l2_high_dim"],
            "bandwidth": loguniform(1, 100),
            "exponent": uniform(0.7, 0.6),
            "reg": loguniform(1e-5, 10),
        },
    ),
    # Its default penalty drops every feature.
    "skglm": Learner(
        "skglm.SparseLogisticRegression",
        "skglm.Lasso",
        only_tuned=True,
        space={"alpha": loguniform(1e-4, 0.3)},
    ),
    "HistGradientBoosting": Learner(
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
        space={
            "learning_rate": loguniform(0.02, 0.3),
            "max_iter": [50, 100, 200, 400],
            "max_leaf_nodes": [7, 15, 31, 63],
            "min_samples_leaf": [5, 10, 20, 40],
            "l2_regularization": loguniform(1e-3, 10),
        },
    ),
    "random forest": Learner(
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.ensemble.RandomForestRegressor",
        space={"max_features": ["sqrt", 0.3, 0.6, 1.0], "min_samples_leaf": [1, 2, 5, 10]},
    ),
    "logistic or ridge": Learner(
        "sklearn.linear_model.LogisticRegression",
        "sklearn.linear_model.Ridge",
        space={"C": loguniform(1e-3, 1e3), "alpha": loguniform(1e-3, 1e3)},
    ),
    "SVM": Learner(
        "sklearn.svm.SVC", "sklearn.svm.SVR", space={"C": loguniform(0.1, 1000), "gamma": _WIDTHS}
    ),
    "Nyström + LDA": Learner(
        f"{_HERE}.nystroem_lda",
        space={
            "nystroem__n_components": [50, 100, 250],
            "nystroem__gamma": [None, *_WIDTHS[1:]],
            "lineardiscriminantanalysis__shrinkage": ["auto", 0.01, 0.1],
        },
    ),
    "Nyström + ridge": Learner(
        f"{_HERE}.nystroem_ridge_classifier",
        f"{_HERE}.nystroem_ridge",
        space={
            "nystroem__n_components": [50, 100, 250],
            "nystroem__gamma": [None, *_WIDTHS[1:]],
            "ridgeclassifier__alpha": loguniform(1e-4, 100),
            "ridge__alpha": loguniform(1e-4, 100),
        },
    ),
    "nearest neighbours": Learner(
        "sklearn.neighbors.KNeighborsClassifier",
        "sklearn.neighbors.KNeighborsRegressor",
        space={"n_neighbors": randint(1, 40), "weights": ["uniform", "distance"]},
    ),
}


def rfm_on_eem() -> BaseEstimator:
    """A recursive feature machine whose learner is EEM instead of EEKM."""
    from entrolearn import RecursiveFeatureClassifier

    return RecursiveFeatureClassifier(EEMClassifier())


def make(name: str, board: str, seed: int = 0, configuration: Mapping | None = None) -> BaseEstimator | None:
    """The estimator of a learner for a board, with all seeds set; None if the learner lacks the task.

    `configuration` has the parameters that differ from the defaults. Without the learner's library, an
    ImportError is raised.
    """
    learner = LEARNERS[name]
    path = learner.regressor if board == "regression" else learner.classifier
    if path is None:
        return None
    module, _, attribute = path.rpartition(".")
    estimator = getattr(import_module(module), attribute)(**learner.params)
    if board == "multiclass" and not get_tags(estimator).classifier_tags.multi_class:
        return None
    estimator.set_params(**{key: clone(value, safe=False) for key, value in (configuration or {}).items()})
    names = [key for key in estimator.get_params() if key.split("__")[-1] in ("random_state", "random_seed")]
    return estimator.set_params(**dict.fromkeys(names, seed))


def configurations(name: str, board: str) -> list[dict]:
    """The ten configurations for tuning, equal for all data sets: the defaults, then a seeded random draw."""
    accepted = make(name, board).get_params()
    space = {key: values for key, values in LEARNERS[name].space.items() if key in accepted}
    if "estimator" in space:
        kind = RKELMRegressor if board == "regression" else EEKMClassifier
        space["estimator"] = [base for base in space["estimator"] if base is None or isinstance(base, kind)]
    return [{}, *ParameterSampler(space, N_CONFIGURATIONS - 1, random_state=0)]
