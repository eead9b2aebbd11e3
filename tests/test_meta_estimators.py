"""scikit-learn's meta-estimators, searches, inspections and displays with the learners of this package."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  allows the import below
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, permutation_importance
from sklearn.linear_model import RANSACRegressor
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    DetCurveDisplay,
    PrecisionRecallDisplay,
    PredictionErrorDisplay,
    RocCurveDisplay,
)
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    LearningCurveDisplay,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_val_predict,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from entrolearn import (
    LSSVC,
    LSSVR,
    MELM,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    OneNormSVC,
    RKELMRegressor,
)
from entrolearn.networks import SoftmaxRegression

pytestmark = pytest.mark.filterwarnings("error")

X, IRIS = load_iris(return_X_y=True, as_frame=True)
THREE = IRIS.to_numpy()
TWO = (THREE == 1).astype(int)
D, VALUES = load_diabetes(return_X_y=True)
D, VALUES = D[:150], VALUES[:150]
EEM = EEMClassifier(30, random_state=0)
HALF = np.arange(len(X)) % 2 == 0

CLASSIFIERS = {
    "bagging": BaggingClassifier(EEM, 5, max_samples=0.5, max_features=0.75, random_state=0),
    "voting": VotingClassifier([("eem", EEM), ("softmax", SoftmaxRegression())], voting="soft"),
    "stacking": StackingClassifier([("eem", EEM), ("melm", MELM(n_init=1, random_state=0))], cv=3),
    "calibration of ELM": CalibratedClassifierCV(ELMClassifier(30, random_state=0), cv=3),
    "one class against the rest": OneVsRestClassifier(OneNormSVC()),
    "pairs of classes": OneVsOneClassifier(OneNormSVC()),
    "output codes": OutputCodeClassifier(OneNormSVC(), code_size=4, random_state=0),
    "self-training": SelfTrainingClassifier(EEM),
    "grid search": GridSearchCV(EEM, {"n_hidden": [10, 30], "activation": ["rbf", "sigmoid"]}, cv=3),
    "halving": HalvingGridSearchCV(EEM, {"n_hidden": [10, 30]}, cv=3, random_state=0),
    "recursive elimination of features": RFECV(LSSVC(kernel="linear"), cv=3),
    "features, one by one": make_pipeline(SequentialFeatureSelector(EEM, n_features_to_select=2, cv=3), EEM),
    "union of features": make_pipeline(
        FeatureUnion([("melm", MELM(n_init=1, random_state=0)), ("scaled", StandardScaler())]), EEM
    ),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    """Half of iris' rows tell the other half."""
    model = clone(CLASSIFIERS[name])
    unlabelled = name == "self-training"
    model.fit(X if unlabelled else X[HALF], np.where(HALF, THREE, -1) if unlabelled else THREE[HALF])
    assert model.score(X[~HALF], THREE[~HALF]) > 0.85


REGRESSORS = {
    "AdaBoost": AdaBoostRegressor(ELMRegressor(20, random_state=0), n_estimators=5, random_state=0),
    "voting": VotingRegressor([("elm", ELMRegressor(10, random_state=0)), ("svr", LSSVR())]),
    "logarithms of targets": TransformedTargetRegressor(
        RKELMRegressor(random_state=0), func=np.log, inverse_func=np.exp
    ),
    "RANSAC": RANSACRegressor(LSSVR(), min_samples=0.5, random_state=0),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    assert clone(REGRESSORS[name]).fit(D, VALUES).score(D, VALUES) > 0.2


def test_several_outputs():
    both = np.column_stack([TWO, THREE == 0])
    for meta in (MultiOutputClassifier(EEM), ClassifierChain(EEM)):
        assert (meta.fit(X, both).predict(X) == both).mean() > 0.9
    both = np.column_stack([VALUES, -VALUES])
    assert MultiOutputRegressor(LSSVR()).fit(D, both).predict(D).shape == both.shape


def test_thresholds_and_selection():
    tuned = TunedThresholdClassifierCV(EEM, scoring="f1", cv=3).fit(X, TWO)
    assert tuned.score(X, TWO) > 0.85
    kept = SelectFromModel(LSSVC(kernel="linear"), max_features=2).fit(X, TWO)
    assert kept.get_feature_names_out().tolist() == list(X.columns[kept.get_support()])
    assert cross_val_predict(EEM, X, THREE, method="predict_proba").shape == (150, 3)


def test_frames_with_words():
    frame = X.assign(kind=np.where(THREE == 2, "large", "small"))
    columns = ColumnTransformer([("words", OneHotEncoder(), ["kind"])], remainder=StandardScaler())
    model = make_pipeline(columns.set_output(transform="default"), EEM).fit(frame, THREE)
    assert model.score(frame, THREE) > 0.9
    shown = MELM(n_init=1, random_state=0).set_output(transform="pandas").fit(X, TWO).transform(X)
    pd.testing.assert_index_equal(shown.index, X.index)


def test_displays():
    eem = clone(EEM).fit(X, TWO)
    elm = ELMClassifier(30, random_state=0).fit(X, TWO)
    for display in (RocCurveDisplay, PrecisionRecallDisplay, DetCurveDisplay, ConfusionMatrixDisplay):
        display.from_estimator(eem, X, TWO)
        display.from_estimator(elm, X, TWO)
    CalibrationDisplay.from_estimator(eem, X, TWO)
    PredictionErrorDisplay.from_estimator(LSSVR().fit(D, VALUES), D, VALUES)
    PartialDependenceDisplay.from_estimator(eem, X, [0, (1, 2)], grid_resolution=5)
    DecisionBoundaryDisplay.from_estimator(clone(EEM).fit(X.iloc[:, :2], THREE), X.iloc[:, :2])
    mixed = np.random.default_rng(0).permutation(len(X))
    LearningCurveDisplay.from_estimator(EEM, X.iloc[mixed], TWO[mixed], cv=3, train_sizes=[0.5, 1.0])
    ValidationCurveDisplay.from_estimator(EEM, X, TWO, param_name="n_hidden", param_range=[5, 10], cv=3)
    plt.close("all")
    assert permutation_importance(eem, X, TWO, random_state=0).importances_mean[2:].min() > 0
