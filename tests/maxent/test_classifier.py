"""The conditional model of greatest entropy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime, brentq
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import StandardScaler, minmax_scale

from entrolearn.maxent import MaxEntClassifier
from entrolearn.maxent.features import PerClassFeatures, evaluated
from entrolearn.maxent.solvers import Likelihood, _scaling_step, generalized_iterative_scaling, lbfgs


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return minmax_scale(X), np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def words():
    """Counts of twelve words in three classes, each word in each class."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = rng.poisson(rng.uniform(0.3, 2.0, size=(3, 12))[y]).astype(float)
    return X, y


def one_hot(y):
    return (y[:, None] == np.unique(y)).astype(float)


def per_class(classes):
    """The columns of X as features of each class, written out."""

    def feature(X, c):
        X = X.toarray() if sparse.issparse(X) else X
        return np.hstack([X * (c == k) for k in classes])

    return feature


def named_likelihood(X, y, *, biased=True, alpha=1.0):
    return Likelihood(PerClassFeatures(X, len(np.unique(y))), one_hot(y), biased, alpha)


# Closed forms and twins


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_plain_case_is_multinomial_logistic_regression(iris, C, fit_intercept):
    X, y = iris
    ours = MaxEntClassifier(alpha=1 / C, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    twin = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-8, max_iter=10_000).fit(X, y)
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), atol=1e-5)
    assert_allclose(ours.weights_, twin.coef_, atol=1e-4)


def test_defaults_are_those_of_logistic_regression(iris):
    X, y = iris
    ours, twin = MaxEntClassifier().fit(X, y), LogisticRegression(max_iter=1000).fit(X, y)
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), rtol=0, atol=1e-10)


def test_two_classes_are_logistic_regression_of_twice_the_variance():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = MaxEntClassifier(alpha=2.0, tol=1e-8).fit(X, y)
    twin = LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000).fit(X, y)
    assert_allclose(ours.decision_function(X), twin.decision_function(X), atol=1e-3)
    assert_allclose(ours.weights_[1] - ours.weights_[0], twin.coef_[0], atol=1e-4)


def test_without_features_that_differ_classes_have_their_frequencies():
    y = np.repeat([0, 1, 2], [5, 3, 2])
    found = MaxEntClassifier(alpha=0, tol=1e-10).fit(np.zeros((10, 1)), y)
    assert_allclose(found.predict_proba([[0.0]]), [[0.5, 0.3, 0.2]], atol=2e-8)


def test_one_binary_feature_gives_the_frequencies_among_rows_that_have_it():
    X = np.repeat([[0.0], [1.0]], [10, 20], axis=0)
    y = np.repeat([0, 1, 0, 1], [7, 3, 4, 16])
    for solver in ("lbfgs", "gis"):
        found = MaxEntClassifier(alpha=0, solver=solver, tol=1e-9, max_iter=5000).fit(X, y)
        assert_allclose(found.predict_proba([[0.0], [1.0]]), [[0.7, 0.3], [0.2, 0.8]], atol=1e-6)


def test_feature_functions_that_write_out_the_columns_are_the_plain_case(words):
    X, y = words
    plain = MaxEntClassifier(tol=1e-8).fit(X, y)
    written = MaxEntClassifier(per_class([0, 1, 2]), tol=1e-8).fit(X, y)
    assert_allclose(written.weights_, plain.weights_.ravel(), atol=1e-5)
    assert_allclose(written.predict_log_proba(X), plain.predict_log_proba(X), atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "gis"])
def test_sparse_rows_and_sparse_features_make_no_difference(words, solver):
    X, y = words
    options = {"solver": solver, "max_iter": 50, "tol": 0.0}
    functions = [per_class([0, 1, 2]), lambda X, c: X[:, [c]]]

    def sparse_twin(X, c):
        return sparse.csr_array(functions[0](X, c))

    dense = MaxEntClassifier(**options).fit(X, y)
    of_sparse = MaxEntClassifier(**options).fit(sparse.csr_array(X), y)
    dense_functions = MaxEntClassifier(functions, **options).fit(X, y)
    sparse_functions = MaxEntClassifier([sparse_twin, functions[1]], **options).fit(sparse.csr_array(X), y)
    assert_allclose(of_sparse.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-7)
    assert_allclose(sparse_functions.predict_proba(X), dense_functions.predict_proba(X), atol=1e-7)


def test_shared_weights_are_those_of_a_loop_over_rows_and_classes(iris):
    """An ordinal model: a class's score is its place times one weighted sum."""
    X, y = iris
    place = {"setosa": 0.0, "versicolor": 1.0, "virginica": 2.0}
    found = MaxEntClassifier(lambda X, c: place[c] * X).fit(X, y)
    assert found.weights_.shape == (4,)
    scores = [
        [place[c] * row @ found.weights_ + b for c, b in zip(found.classes_, found.intercept_, strict=True)]
        for row in X
    ]
    assert_allclose(found.predict_proba(X), softmax(scores, axis=1), rtol=1e-12)
    assert found.score(X, y) > 0.9


@pytest.mark.parametrize("alpha", [0.0, 1 / 0.3])
def test_gradient_by_finite_differences(words, alpha):
    X, y = words
    likelihood = named_likelihood(X, y, alpha=alpha)
    parameters = np.random.default_rng(1).normal(size=likelihood.n_parameters)
    numeric = approx_fprime(parameters, lambda parameters: likelihood(parameters)[0], 1e-7)
    assert_allclose(likelihood(parameters)[1], numeric, atol=1e-5)


# Laws


def test_without_a_prior_the_constraints_hold(words):
    X, y = words
    found = MaxEntClassifier(alpha=0, tol=1e-8).fit(X, y)
    probability = found.predict_proba(X)
    for c in range(3):
        assert_allclose(probability[:, c] @ X / len(X), X[y == c].sum(axis=0) / len(X), atol=2e-8)
    assert_allclose(probability.mean(axis=0), one_hot(y).mean(axis=0), atol=2e-8)


def test_of_all_conditional_distributions_with_the_constraints_it_has_the_greatest_entropy(words):
    """Any other one differs by what the features do not see: by directions in which all means stay."""
    X, y = words
    found = MaxEntClassifier(alpha=0, tol=1e-8).fit(X, y)
    probability = found.predict_proba(X)
    basis = np.linalg.qr(np.column_stack([X, np.ones(len(X))]))[0]
    rng = np.random.default_rng(2)

    def entropy(P):
        return -np.sum(P * np.log(P))

    for _ in range(10):
        change = rng.normal(size=len(X))
        change -= basis @ (basis.T @ change)
        moved = probability + np.outer(change, [1.0, -1.0, 0.0]) * probability.min() / np.abs(change).max()
        assert entropy(moved) < entropy(probability)


@pytest.mark.parametrize("alpha", [0, 2.0])
def test_both_solvers_meet(words, alpha):
    X, y = words
    fits = [
        MaxEntClassifier(alpha=alpha, solver=solver, tol=1e-5, max_iter=20_000).fit(X, y)
        for solver in ("lbfgs", "gis")
    ]
    assert_allclose(fits[0].predict_log_proba(X), fits[1].predict_log_proba(X), atol=5e-3)
    assert fits[1].n_iter_ > 5 * fits[0].n_iter_


@pytest.mark.parametrize("alpha", [0.0, 0.1, 1e3])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_each_step_of_iterative_scaling_raises_the_likelihood(words, alpha, scale):
    X, y = words
    likelihood = named_likelihood(scale * X, y, alpha=alpha)
    losses = generalized_iterative_scaling(likelihood, 200, 0.0).losses
    assert (np.diff(losses) < 1e-13).all()
    assert losses[-1] < losses[0]


def test_scaling_step_with_a_prior_is_the_root_of_chen_and_rosenfelds_equation(words):
    X, y = words
    likelihood = named_likelihood(X, y, biased=False, alpha=5.0)
    parameters = np.random.default_rng(3).normal(size=likelihood.n_parameters)
    _, _, model_means = likelihood(parameters)
    total = X.sum(axis=1).max()
    variance = 0.2 * len(X)
    roots = [
        brentq(lambda d, e=e, w=w, a=a: e * np.exp(total * d) + (w + d) / variance - a, -5, 5, xtol=1e-14)
        for e, w, a in zip(model_means, parameters, likelihood.data_means, strict=True)
    ]
    assert_allclose(_scaling_step(likelihood, parameters, model_means, total), roots, rtol=1e-8, atol=1e-12)


def test_wide_priors_lead_to_none(words):
    X, y = words
    none, *wide = (named_likelihood(X, y, biased=False, alpha=alpha) for alpha in (0.0, 5e-324, 1e-12))
    parameters = np.random.default_rng(4).normal(size=none.n_parameters)
    means = none(parameters)[2]
    expected = _scaling_step(none, parameters, means, 20.0)
    for each in wide:
        assert_allclose(_scaling_step(each, parameters, means, 20.0), expected, rtol=1e-6, atol=1e-9)


def test_loss_of_lbfgs_goes_down(words):
    X, y = words
    losses = lbfgs(named_likelihood(X, y), 100, 1e-6).losses
    assert losses[0] == pytest.approx(np.log(3), rel=1e-12)
    assert (np.diff(losses) < 0).all()


def test_a_word_that_stands_there_twice_counts_once():
    """The essay's Puerto Rico: naive Bayes counts the evidence of a pair of words twice."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=400)
    X = rng.poisson(np.array([[0.5, 1.0, 1.0], [1.0, 0.6, 1.0]])[y]).astype(float)
    paired = np.column_stack([X, X[:, 0]])

    def change(learner):
        alone, double = (learner.fit(rows, y).predict_log_proba(rows) for rows in (X, paired))
        return np.abs(alone - double).max()

    maxent = MaxEntClassifier(alpha=0, tol=1e-9)
    assert change(maxent) < 1e-5
    assert change(MultinomialNB()) > 0.3
    assert_allclose(maxent.weights_[:, 0], maxent.weights_[:, 3], atol=1e-6)  # each has half
    single = MaxEntClassifier(alpha=0, tol=1e-9).fit(X, y)
    halves = maxent.weights_[1] - maxent.weights_[0]
    assert 2 * halves[0] == pytest.approx((single.weights_[1] - single.weights_[0])[0], abs=1e-5)


def test_a_feature_that_a_class_never_has_leaves_iterative_scaling_finite():
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 1, 1])
    found = MaxEntClassifier(alpha=0, solver="gis", tol=1e-9).fit(X, y)
    assert np.isfinite(found.weights_).all()
    assert (np.diff(found.loss_curve_) < 1e-13).all()
    assert found.predict_proba([[1.0, 1.0]])[0, 1] > 0.999


def test_a_column_of_zeros_keeps_its_weights_at_zero(words):
    X, y = words
    for alpha in (0, 1.0):
        for solver in ("lbfgs", "gis"):
            padded = np.column_stack([X, np.zeros(len(X))])
            found = MaxEntClassifier(alpha=alpha, solver=solver, tol=1e-2).fit(padded, y)
            assert_array_equal(found.weights_[:, -1], 0)


def test_a_tighter_prior_makes_smaller_weights(words):
    X, y = words
    norms = [np.linalg.norm(MaxEntClassifier(alpha=a).fit(X, y).weights_) for a in (1e3, 10, 0.1)]
    assert norms[0] < norms[1] < norms[2]


def test_rows_and_curve_are_those_of_the_iterations(words):
    X, y = words
    found = MaxEntClassifier(alpha=0).fit(X, y)
    assert len(found.loss_curve_) == found.n_iter_ + 1
    log_likelihood = np.log(found.predict_proba(X)[np.arange(len(y)), y]).mean()
    assert found.loss_curve_[-1] == pytest.approx(-log_likelihood, rel=1e-9)


# Input


def test_features_that_differ_in_number_are_refused():
    X = np.array([[1.0, 2.0], [-1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"give \[1, 2\] features with the classes \[0, 1\]"):
        MaxEntClassifier(lambda X, c: X[:, : c + 1]).fit(X, [0, 1, 1])


def test_too_few_iterations_are_told(words):
    X, y = words
    with pytest.warns(ConvergenceWarning, match="after 3 iterations a constraint is off by"):
        MaxEntClassifier(solver="gis", max_iter=3).fit(X, y)


def test_values_of_feature_functions_stand_side_by_side():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = evaluated([lambda X, c: X[:, 0] * c, lambda X, c: X], X, np.array([0, 1]))
    assert_array_equal(found.tables[1], [[1, 1, 2], [3, 3, 4]])
    assert found.greatest_sum() == 10
    assert found.least() == 0
