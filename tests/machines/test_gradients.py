"""Gradients of decision values against finite differences, over all learners that have them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from public_estimators import ESTIMATORS
from scipy.sparse import csr_array
from sklearn.base import clone, is_regressor

from entrolearn import LSSVC, EEMClassifier, KELMRegressor, RKELMClassifier
from entrolearn.machines.base import to_original_coordinates

WITH_GRADIENT = [
    *(each for each in ESTIMATORS if hasattr(each, "input_gradient") and hasattr(each, "_linear_part")),
    EEMClassifier(20, activation="sine", bounds=None, random_state=0),
    EEMClassifier(20, activation="rbf", bounds=[0.0, 3.0], random_state=0),
    EEMClassifier(20, activation="rbf", bounds=None, random_state=0),
    RKELMClassifier(20, kernel="linear", alpha=1e-3, random_state=0),
    LSSVC(kernel="linear"),
    *(
        KELMRegressor(kernel=kernel, kernel_params={"power": 1.5} if kernel == "exponential_power" else None)
        for kernel in ("wave", "exponential_power", "sigmoid", "laplacian")
    ),
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)) * [1.0, 2.0, 0.5] + [5.0, 0.0, -1.0]
OTHERS = RNG.normal(size=(6, 3)) * [1.0, 2.0, 0.5] + [5.0, 0.0, -1.0]
SCORE = X @ [1.0, 0.5, -1.0] + np.sin(X[:, 1])


def targets(learner, n_classes: int):
    if is_regressor(learner):
        return SCORE if n_classes == 2 else np.column_stack([SCORE, X[:, 0] ** 2])
    return np.digitize(SCORE, np.quantile(SCORE, np.arange(1, n_classes) / n_classes))


def values(learner, rows):
    return learner.predict(rows) if is_regressor(learner) else learner.decision_function(rows)


def derivative(learner, direction):
    """By central differences of fourth order; a corner of a kernel is not crossed."""
    step = 1e-6 if getattr(learner, "kernel", None) == "laplacian" else 1e-3
    near, far = (
        values(learner, OTHERS + n * step * direction) - values(learner, OTHERS - n * step * direction)
        for n in (1, 2)
    )
    return (8 * near - far) / (12 * step)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", WITH_GRADIENT, ids=str)
def test_the_gradient_is_that_of_finite_differences_wherever_the_rows_live(learner, n_classes):
    learner = clone(learner).fit(X, targets(learner, n_classes))
    gradient = learner.input_gradient(OTHERS)
    expected = np.stack([derivative(learner, direction) for direction in np.eye(3)], axis=-1)
    assert gradient.shape == expected.shape == (6, 3) if n_classes == 2 else (6, gradient.shape[1], 3)
    size = abs(expected).max()
    # of coefficients of 1e9, as without a ridge, differences keep few digits
    assert_allclose(gradient, expected, rtol=0, atol=1e-4 * size)
    assert_allclose(learner.input_gradient(csr_array(OTHERS)), gradient, rtol=0, atol=1e-9 * size)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("root", ["diagonal", "full"])
@pytest.mark.parametrize("learner", WITH_GRADIENT, ids=str)
def test_a_machine_takes_the_metric_that_it_was_fitted_in_into_its_layer(learner, root):
    root = np.array([0.5, 2.0, 1.0]) if root == "diagonal" else np.eye(3) + 0.3
    R = np.diag(root) if root.ndim == 1 else root
    learner = clone(learner).fit(X @ R, targets(learner, 3))
    expected, gradient = values(learner, OTHERS @ R), learner.input_gradient(OTHERS @ R) @ R
    to_original_coordinates(learner, root)
    for rows in (OTHERS, csr_array(OTHERS)):
        assert_allclose(values(learner, rows), expected, rtol=0, atol=1e-7 * abs(expected).max())
        found = learner.input_gradient(rows)
        assert_allclose(found, gradient, rtol=0, atol=1e-6 * abs(gradient).max())
    if hasattr(learner, "coef_"):
        slopes = learner.input_gradient(OTHERS)[0]
        assert_allclose(learner.coef_, slopes, rtol=0, atol=1e-9 * abs(slopes).max())


@pytest.mark.parametrize(
    ("kernel", "params"),
    [("exponential_power", {"power": 0.5}), ("exponential_power", None), ("laplacian", None)],
)
def test_at_the_corner_of_its_own_kernel_value_a_row_has_no_gradient(kernel, params):
    """By symmetry: with one other row as far on either side, the gradient there is zero."""
    rows = np.array([[-1.0], [0.0], [1.0]])
    machine = KELMRegressor(kernel=kernel, kernel_params=params, gamma=1.0).fit(rows, [1.0, 3.0, 1.0])
    assert_allclose(machine.input_gradient(rows)[1], 0.0, atol=1e-12)
    assert np.isfinite(machine.input_gradient(rows)).all()


def test_features_that_are_not_seen_have_no_gradient():
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    gradient = EEMClassifier(20, random_state=0).fit(constant, SCORE > 6).input_gradient(constant)
    assert_array_equal(gradient[:, 3], 0.0)


@pytest.mark.parametrize(
    "learner",
    [
        EEMClassifier(activation="hardlimit"),
        EEMClassifier(activation=np.cos),
        LSSVC(kernel="precomputed"),
        LSSVC(kernel="chi2"),
    ],
    ids=str,
)
def test_without_a_closed_form_there_is_no_method(learner):
    with pytest.raises(AttributeError) as refusal:
        learner.input_gradient(X)
    assert "no gradient in closed form with" in str(refusal.value.__cause__)
