"""Extreme entropy machines: laws, limit cases, naive twins."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import clone
from sklearn.covariance import OAS, LedoitWolf, ledoit_wolf
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import minmax_scale, scale
from sklearn.svm import SVC

from entrolearn import LSSVC, EEKMClassifier, EEMClassifier, ELMClassifier, WELMClassifier, streaming
from entrolearn.machines.layers import ACTIVATIONS
from entrolearn.machines.moments import ClassMoments
from entrolearn.machines.readouts import (
    ClassCovariance,
    CovarianceMatrix,
    _principal_axes,
    entropy_discriminant,
)
from entrolearn.measures import cauchy_schwarz_gaussian
from entrolearn.metrics import gmean_score
from entrolearn.path import Partition, path


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), y


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X), y


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_machine_is_algorithm_1(wdbc, activation):
    """A naive twin: hidden matrix, scikit-learn's Ledoit-Wolf, an inverse, scipy's densities."""
    X, y = wdbc
    if activation == "hardlimit":  # one for all rows of [0, 1] whose weights are drawn from there too
        X = X - X.mean(axis=0)
    machine = EEMClassifier(40, activation=activation, bounds=None, random_state=0).fit(X, y)
    w, b = machine._layer.weights, machine._layer.biases
    H = {
        "sigmoid": 1 / (1 + np.exp(-(X @ w.T) + b)),
        "nsigmoid": 1 / (1 + np.exp(-(X @ w.T) / 30 + b)),
        "rbf": np.exp(-b * ((X[:, None, :] - w) ** 2).sum(axis=2)),
        "sine": np.sin(X @ w.T - b),
        "hardlimit": np.heaviside(X @ w.T - b, 1.0),
    }[activation]
    neg, pos = H[y == 0], H[y == 1]
    sigma_neg, sigma_pos = ledoit_wolf(neg)[0], ledoit_wolf(pos)[0]
    m = pos.mean(axis=0) - neg.mean(axis=0)
    inverse = np.linalg.inv(sigma_neg + sigma_pos)
    beta = 2 * inverse @ m / (m @ inverse @ m)
    likely = [
        norm.logpdf(H @ beta, beta @ rows.mean(axis=0), np.sqrt(beta @ sigma @ beta))
        for rows, sigma in [(neg, sigma_neg), (pos, sigma_pos)]
    ]
    assert_allclose(machine.hidden_coef_, beta, rtol=1e-5)
    assert_allclose(machine.decision_function(X), likely[1] - likely[0], rtol=1e-5, atol=1e-6)


def test_thresholds_are_where_predictions_change(wdbc):
    X, y = wdbc
    machine = EEMClassifier(50, random_state=0).fit(X, y)
    inside = np.digitize(machine.project(X), machine.thresholds_)
    answers = [set(machine.predict(X)[inside == i]) for i in range(len(machine.thresholds_) + 1)]
    assert all(len(answer) <= 1 for answer in answers)
    assert any(answers)


def test_class_sizes_do_not_matter(wdbc):
    """Repeating one class's rows leaves the empirical machine as it is: the classes weigh alike."""
    X, y = wdbc
    repeated = np.concatenate([np.arange(len(y)), np.flatnonzero(y == 0), np.flatnonzero(y == 0)])
    machine = EEMClassifier(20, bounds=(0, 1), covariance=1e-6, random_state=0)
    once = machine.fit(X, y).decision_function(X)
    thrice = machine.fit(X[repeated], y[repeated]).decision_function(X)
    assert_allclose(thrice, once, rtol=1e-4, atol=1e-5)


def test_with_equal_covariances_it_is_the_elm_classifier():
    """Theorem 1: balanced classes of one shape; the least squares machine decides by the same line."""
    rng = np.random.default_rng(0)
    cloud = rng.uniform(size=(200, 2)) * 0.3 + 0.2
    X, y = np.vstack([cloud, -cloud]), np.repeat([0, 1], 200)  # point reflection: equal covariances
    biases = np.random.RandomState(0).uniform(size=(2, 3))[:, -1]  # those of the layer: its mean is then zero
    centred = {"activation": lambda Z: Z + biases, "bounds": None, "random_state": 0, "n_hidden": 2}
    entropic = EEMClassifier(**centred, covariance="empirical").fit(X, y)
    regression = WELMClassifier(**centred).fit(X, y)
    assert_allclose(
        *(beta / np.linalg.norm(beta) for beta in (entropic.hidden_coef_, regression.hidden_coef_)), rtol=1e-8
    )
    assert_array_equal(regression.predict(X), y)
    assert_array_equal(entropic.predict(X), y)
    assert_allclose(*entropic.projected_variances_, rtol=1e-9)


def test_with_all_points_the_kernel_machine_has_the_ls_svm_direction():
    """Theorem 2: balanced classes, all points as landmarks, a common covariance (here: a ridge of C).

    LS-SVM is ridge regression on ±1: kernel Fisher with the pooled scatter n_0 S_0 + n_1 S_1 plus I / C. With
    equal class sizes n / 2 that is (n / 2)(S_0 + S_1 + 2 I / (n C)): a ridge of 1 / (n C) per class.
    """
    X, y = make_classification(80, 4, n_redundant=0, flip_y=0, class_sep=1.5, random_state=1)
    X, C = minmax_scale(X), 1e4
    assert np.bincount(y).tolist() == [40, 40]
    ls = LSSVC(alpha=1 / C, gamma=1.0).fit(X, y)
    machine = EEKMClassifier(n_landmarks=80, gamma=1.0, covariance=1 / (80 * C), random_state=0).fit(X, y)
    assert np.corrcoef(machine.project(X), ls.decision_function(X))[0, 1] > 1 - 1e-9
    assert_allclose(*machine.projected_variances_, rtol=0.02)
    assert_array_equal(ls.predict(X), y)
    assert_array_equal(machine.predict(X), y)


# Two classes in the plane, apart along the first axis, of unequal spread along the second.
MEANS, VARIANCES = np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([[1.0, 1.0], [1.0, 100.0]])


def beta_of_the_plane():
    readout = entropy_discriminant(
        MEANS, [ClassCovariance(CovarianceMatrix(np.diag(each))) for each in VARIANCES]
    )
    return readout.coef.ravel()


def test_the_term_that_it_maximises_may_miss_the_largest_divergence():
    """The squared distance over the variances is largest along β, the whole divergence across it."""
    beta = beta_of_the_plane()
    term, whole = {}, {}
    for name, v in (("beta", beta / np.linalg.norm(beta)), ("across", np.array([0.0, 1.0]))):
        means, variances = MEANS @ v, VARIANCES @ v**2
        term[name] = np.diff(means).item() ** 2 / variances.sum()
        whole[name] = cauchy_schwarz_gaussian(means[0], variances[0], means[1], variances[1])
    assert term == pytest.approx({"beta": 0.125, "across": 0.0}, rel=1e-9)
    assert whole == pytest.approx({"beta": 0.125, "across": np.log(101 / 20)}, rel=1e-9)


def test_gaussian_classes_of_unequal_covariances_may_have_a_line_of_less_error():
    """Balanced errors with the best thresholds of each line, by their closed forms."""
    beta = beta_of_the_plane()
    assert abs(beta[1]) < 1e-12
    along = norm.sf(0.25)  # equal variances: one threshold, half way
    t = np.sqrt(np.log(100) * 100 / 99)  # where the two densities across are equal
    across = (2 * norm.sf(t) + norm.cdf(t / 10) - norm.cdf(-t / 10)) / 2
    assert across < 0.11 < 0.4 < along


def test_without_weights_least_squares_and_margins_lose_the_small_class():
    """600 and 30 rows of two Gaussians: balanced accuracy without weights of classes."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(600, 2)), rng.normal(size=(30, 2)) + 1.5])
    y = np.repeat([0, 1], [600, 30])

    def score(machine):
        return balanced_accuracy_score(y, machine.fit(X, y).predict(X))

    best = norm.cdf(1.5 / np.sqrt(2))  # by the line half way between the means
    assert score(EEMClassifier(50, random_state=0)) > best - 0.02
    assert score(EEKMClassifier(50, random_state=0)) > best - 0.02
    for rival in (ELMClassifier(50, random_state=0), LSSVC(), SVC()):
        assert score(rival) < best - 0.1


def test_other_priors_multiply_the_odds(wdbc):
    """Bayes' theorem, section 6: the odds of the probabilities times those of the priors."""
    X, y = wdbc
    machine = EEMClassifier(30, random_state=0)
    equal, given = (
        clone(machine).set_params(priors=priors).fit(X, y).predict_log_proba(X)
        for priors in ("uniform", {0: 0.9, 1: 0.1})
    )
    assert_allclose(given[:, 1] - given[:, 0], equal[:, 1] - equal[:, 0] + np.log(0.1 / 0.9), atol=1e-9)


def test_the_kernel_machine_is_its_unfolded_twin(wdbc):
    """Nyström features by an eigendecomposition, as printed, then scikit-learn's Ledoit-Wolf."""
    X, y = wdbc
    machine = EEKMClassifier(40, gamma=0.5, random_state=0).fit(X, y)
    values, vectors = np.linalg.eigh(rbf_kernel(machine.landmarks_, gamma=0.5))
    H = rbf_kernel(X, machine.landmarks_, gamma=0.5) @ (vectors / np.sqrt(values)) @ vectors.T
    sigma = ledoit_wolf(H[y == 0])[0] + ledoit_wolf(H[y == 1])[0]
    m = H[y == 1].mean(axis=0) - H[y == 0].mean(axis=0)
    beta = np.linalg.solve(sigma, m)
    assert_allclose(machine.project(X), H @ (2 * beta / (beta @ m)), rtol=1e-5, atol=1e-6)


def test_a_kernel_machine_keeps_what_a_prediction_needs(wdbc):
    """Section 6: a network of h units of d numbers, h coefficients; nothing of h x h."""
    X, y = wdbc
    machine = EEKMClassifier(200, gamma=0.1, store_sums=False, random_state=0).fit(X, y)
    assert len(pickle.dumps(machine)) < 1.1 * 8 * (200 * 30 + 200)
    assert machine.hidden(X).shape == (569, 200)


def test_more_landmarks_than_rows_are_all_rows(wdbc):
    X, y = wdbc[0][::10], wdbc[1][::10]
    landmarks = EEKMClassifier(1000, random_state=0).fit(X, y).landmarks_
    assert sorted(landmarks.tolist()) == sorted(X.tolist())


def test_three_classes_with_two_of_them_is_the_binary_machine(wine):
    """The general construction restricted to two classes must be the binary machine exactly."""
    X, y = wine
    X, y = X[y < 2], y[y < 2]
    machine = EEMClassifier(30, random_state=0).fit(X, y)
    H = machine._layer(X)
    moments = [ClassMoments.from_data(H[y == c], shift=H[:9].mean(axis=0)) for c in range(2)]
    means = np.array([m.mean for m in moments])
    covariances = [m.ledoit_wolf()[0] for m in moments]
    root = np.linalg.cholesky(sum(covariances))
    axes = _principal_axes(np.linalg.solve(root, (means[1:] - means[0]).T))
    general = np.linalg.solve(root.T, axes)
    binary = machine.hidden_coef_[:, None]
    assert_allclose(general / general[0], binary / binary[0], rtol=1e-6)
    projected = H @ general
    densities = [
        norm.logpdf(projected[:, 0], (means[c] @ general)[0], np.sqrt(general[:, 0] @ S @ general[:, 0]))
        for c, S in enumerate(covariances)
    ]
    assert_allclose(densities[1] - densities[0], machine.decision_function(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_columns_in_a_plane_have_two_principal_axes_in_any_unit(unit):
    columns = np.random.default_rng(0).normal(size=(6, 2)) @ [[1, 0, 1], [0, 1, 1]]
    axes = _principal_axes(unit * columns)
    assert axes.shape == (6, 2)
    assert_allclose(axes @ axes.T @ columns, columns)


def test_three_classes_are_told_apart(wine):
    X, y = wine
    machine = EEMClassifier(50, random_state=0).fit(X[::2], y[::2])
    assert machine.project(X).shape == (len(X), 2)
    assert machine.score(X[1::2], y[1::2]) > 0.93  # scikit-learn's LDA: 0.98 on the same split
    assert_allclose(machine.predict_proba(X).sum(axis=1), 1)


def test_priors_are_named_by_label(wine):
    X, y = wine
    named = EEMClassifier(30, priors={2: 1, 0: 3.0, 1: 4}, random_state=0).fit(X, y)
    assert_allclose(named.priors_, [3 / 8, 4 / 8, 1 / 8])
    given = EEMClassifier(30, priors=[3, 4, 1], random_state=0).fit(X, y)
    assert_array_equal(named.predict_proba(X), given.predict_proba(X))
    words = np.array(["a", "b", "c"])[y]
    by_word = EEMClassifier(30, priors={"a": 3, "b": 4, "c": 1}, random_state=0).fit(X, words)
    assert_array_equal(by_word.decision_function(X), given.decision_function(X))


@pytest.mark.parametrize("machine", [EEMClassifier(20, random_state=0), EEKMClassifier(20, random_state=0)])
def test_empirical_priors_are_the_numbers_of_rows(wine, machine):
    """In a fit, a stream, a fit by chunks and a path alike."""
    X, y = wine
    X, y = X[:150], y[:150]  # 59, 71, 20
    counted = clone(machine).set_params(priors="empirical").fit(X, y)
    assert_allclose(counted.priors_, np.bincount(y) / len(y))
    given = clone(machine).set_params(priors=np.bincount(y)).fit(X, y)
    assert_array_equal(counted.predict_proba(X), given.predict_proba(X))
    streamed = streaming.fit(clone(counted), X, y)
    assert_allclose(streamed.priors_, counted.priors_)
    (point,) = path(clone(counted), X, y, Partition.whole(len(y)), [{}])
    assert_array_equal(point.prediction, counted.predict(X))
    if isinstance(machine, EEMClassifier):
        stream = clone(counted).partial_fit(X[:70], y[:70], classes=[0, 1, 2]).partial_fit(X[70:], y[70:])
        assert_allclose(stream.priors_, counted.priors_)


def test_costs_move_the_answer_towards_the_dear_class(wdbc):
    X, y = wdbc
    positives = [
        EEMClassifier(30, priors=[1, cost], random_state=0).fit(X, y).predict(X).sum()
        for cost in (0.1, 1, 10)
    ]
    assert positives[0] < positives[1] < positives[2]
    scaled = EEMClassifier(30, priors=[3, 30], random_state=0).fit(X, y)
    assert_allclose(scaled.priors_, [1 / 11, 10 / 11])


@pytest.mark.parametrize(
    "machine",
    [
        EEMClassifier(20, activation="sigmoid", random_state=0),
        EEMClassifier(20, covariance=LedoitWolf(), random_state=0),
        EEKMClassifier(20, random_state=0),
    ],
)
def test_hidden_gaussians_are_those_that_the_machine_projects(wdbc, machine):
    X, y = wdbc
    machine.fit(X, y)
    means, covariances = machine.hidden_gaussians(X, y)
    assert_allclose(means, [machine.hidden(X)[y == c].mean(axis=0) for c in machine.classes_], atol=1e-9)
    readout = entropy_discriminant(
        means, [ClassCovariance(CovarianceMatrix(matrix)) for matrix in covariances]
    )
    assert_allclose(readout.means[:, 0], machine.projected_means_, rtol=1e-6)
    assert_allclose(readout.covariances[:, 0, 0], machine.projected_variances_, rtol=1e-6)


def test_hidden_gaussians_of_other_labels_are_refused(wdbc):
    X, y = wdbc
    machine = EEMClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(
        ValueError, match=r"y holds the labels \[5, 6\]; accepted: those of the fit, \[0, 1\]"
    ):
        machine.hidden_gaussians(X, y + 5)


@pytest.mark.parametrize(("name", "estimator"), [("ledoit_wolf", LedoitWolf()), ("oas", OAS())])
def test_named_covariances_are_the_estimators(wdbc, name, estimator):
    X, y = wdbc
    by_name = EEMClassifier(30, covariance=name, random_state=0).fit(X, y)
    by_object = EEMClassifier(30, covariance=estimator, random_state=0).fit(X, y)
    assert_allclose(by_name.decision_function(X), by_object.decision_function(X), rtol=1e-5, atol=1e-6)


def test_saturated_sigmoids_still_separate():
    """Isolet's case: <w, x> near 200, where 1 / (1 + exp(-200)) rounds to one and all rows look alike."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = 1 - 0.2 * rng.uniform(size=(200, 500)) * (1 + y[:, None])
    assert EEMClassifier(20, activation="sigmoid", random_state=0).fit(X, y).score(X, y) > 0.95
    from scipy.special import expit

    with pytest.warns(UserWarning, match="class means coincide"):
        printed = EEMClassifier(20, activation=expit, random_state=0).fit(X, y)
    assert len(set(printed.predict(X))) == 1
    assert printed.thresholds_.size == 0


def test_the_default_units_serve_standardised_features():
    """Digits, 8 against the rest: a balanced SVC has a GMEAN of 0.94.

    Standardised rows are five times as far from the centres as rows in [0, 1] (82 and 17 in squared
    distance): the paper's law of gamma loses most of its units.
    """
    X, y = load_digits(return_X_y=True)
    X, y = scale(X), y == 8
    default, printed = (
        EEMClassifier(unit_scale=gamma, bounds=None, random_state=0).fit(X[::2], y[::2]).predict(X[1::2])
        for gamma in ("log-uniform", "uniform")
    )
    assert gmean_score(y[1::2], default) > 0.88 > gmean_score(y[1::2], printed)


def test_single_precision_without_a_factor_becomes_double(wdbc):
    """Hundreds of smooth units on 569 rows: their covariance has no Cholesky factor in single precision."""
    X, y = wdbc
    settings = {"n_hidden": 400, "activation": "nsigmoid", "covariance": "empirical", "random_state": 0}
    single = EEMClassifier(**settings).fit(X.astype(np.float32), y)
    assert single.solver_info_["dtype"] == "float64"
    assert single.hidden_coef_.dtype == np.float64
    shrunk = EEMClassifier(20, random_state=0).fit(X.astype(np.float32), y)
    assert shrunk.solver_info_ == {"ridge": 0.0, "degenerate": False, "dtype": "float32"}


def test_a_stream_answers_once_it_has_seen_every_class(wdbc):
    X, y = wdbc
    stream = EEMClassifier(10, random_state=0).partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    with pytest.raises(NotFittedError):
        stream.predict(X)
    stream.partial_fit(X[y == 0], y[y == 0])
    assert stream.score(X, y) > 0.9


def test_fit_forgets_the_stream_before_it(wdbc):
    X, y = wdbc
    machine = EEMClassifier(10, store_sums=True, random_state=0)
    machine.partial_fit(X[:100], y[:100], classes=[0, 1]).fit(X[100:300], y[100:300])
    once = EEMClassifier(10, random_state=0).fit(X[100:300], y[100:300])
    assert_allclose(machine.hidden_coef_, once.hidden_coef_, rtol=1e-6)


def test_a_stream_that_cannot_begin_says_why(wdbc):
    with pytest.raises(ValueError, match=r"OAS\(\) needs all rows at once; .*'oas'"):
        EEMClassifier(covariance=OAS()).partial_fit(*wdbc, classes=[0, 1])


def test_predictions_do_not_depend_on_the_block_size(wdbc, monkeypatch):
    X, y = wdbc
    whole = EEMClassifier(30, random_state=0).fit(X, y).decision_function(X)
    monkeypatch.setattr("entrolearn.machines.moments.BLOCK_NUMBERS", 30 * 17)
    assert_allclose(EEMClassifier(30, random_state=0).fit(X, y).decision_function(X), whole, rtol=1e-7)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (EEMClassifier(priors={0: 1}), r"priors names the labels \[0\]; .* a weight for each of \[0, 1\]"),
        (EEMClassifier(priors={0: 1, 1: 2, 2: 1}), r"priors names the labels \[0, 1, 2\]"),
        (EEKMClassifier(priors=None), "'priors' parameter of EEKMClassifier must be .* Got None"),
        (EEMClassifier(covariance=OAS(), store_sums=True), r"OAS\(\) needs all rows at once; .* store_sums"),
        (
            EEKMClassifier(kernel="sigmoid", gamma=9.0, kernel_params={"coef0": -9.0}),
            "not positive semi-definite",
        ),
    ],
)
def test_bad_parameters_are_named(wdbc, machine, message):
    with pytest.raises(ValueError, match=message):
        machine.fit(*wdbc)
