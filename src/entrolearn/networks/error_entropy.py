"""Perceptrons with one hidden layer that minimise the entropy of their errors by gradient descent.

Silva, Marques de Sa and Alexandre (2005) for two classes, Erdogmus and Principe (2002) for prediction.
"""

from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from entrolearn.kernels import check_memory
from entrolearn.measures.errors import ENTROPIES, error_entropy
from entrolearn.networks.perceptron import INITS, LARGEST_INIT, Parameters, Perceptron, outputs
from entrolearn.networks.targets import check_values
from entrolearn.validation import (
    Interval,
    StrOptions,
    encode_two,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["ErrorEntropyMLPClassifier", "ErrorEntropyMLPRegressor"]

#: Measured bytes per error to compute the entropy, for a bandwidth not below the spacing of the errors.
BYTES_OF_ENTROPY = 250
#: Interquartile range of a Gaussian, in standard deviations.
IQR_OF_A_GAUSSIAN = 1.349


class _ErrorEntropyMLP(BaseEstimator):
    """Parameters and training of the classifier and the regressor.

    A subclass sets the activation of its output, ``_output``.
    """

    _parameter_constraints: dict = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "entropy": [StrOptions({*ENTROPIES})],
        "activation": [StrOptions({"logistic", "tanh"})],
        "init": [StrOptions(INITS), Interval(Real, 0, LARGEST_INIT[8], closed="right")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "increase": [Interval(Real, 1, None, closed="left")],
        "decrease": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_hidden=10,
        *,
        bandwidth=1.0,
        entropy="shannon",
        activation="tanh",
        init="glorot",
        learning_rate=1.0,
        increase=1.2,
        decrease=0.5,
        max_iter=200,
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.bandwidth = bandwidth
        self.entropy = entropy
        self.activation = activation
        self.init = init
        self.learning_rate = learning_rate
        self.increase = increase
        self.decrease = decrease
        self.max_iter = max_iter
        self.random_state = random_state

    @np.errstate(over="ignore", invalid="ignore")  # of too long steps, which are undone
    def _train(self, X: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> float:
        """Train on targets of shape (n_samples,); return the remaining mean error."""
        rng = check_random_state(self.random_state)
        check_memory(
            _bytes_needed(len(X), X.shape[1], self.n_hidden, X.itemsize),
            f"a layer of {self.n_hidden} hidden units at all {len(X)} rows at once",
            "take fewer units, or a perceptron that learns in batches, such as MSEMLPRegressor",
        )
        parameters = Parameters.drawn(
            (X.shape[1], self.n_hidden, 1), self.init, self.activation, rng, X.dtype
        )
        network = Perceptron(parameters, self.activation, self._output, len(X))
        objective = _Objective(network, X, targets, self.bandwidth, self.entropy, weights)
        entropy = objective.value()
        if not np.isfinite(entropy):
            raise ValueError(
                f"the outputs are not finite with the first weights: init={self.init!r} is too large for "
                "these rows; take a smaller one, or scale the features"
            )
        objective.differentiate()
        # Limit the step so that float32 does not overflow; both precisions then take the same steps.
        longest = float(np.finfo(np.float32).max) ** 0.75
        kept, rate = parameters.flat.copy(), min(self.learning_rate, longest)
        entropies, rates = np.empty(self.max_iter), np.empty(self.max_iter)
        for epoch in range(self.max_iter):
            rates[epoch] = rate
            parameters.flat -= rate * objective.gradient.flat
            reached = objective.value()
            if reached <= entropy:
                entropy = reached
                kept[...] = parameters.flat
                objective.differentiate()
                rate = min(rate * self.increase, longest)
            else:
                parameters.flat[...] = kept
                rate *= self.decrease
            entropies[epoch] = entropy
        self.loss_curve_, self.learning_rates_ = entropies, rates
        self.n_iter_ = self.max_iter
        self.coefs_, self.intercepts_ = parameters.coefs, parameters.intercepts
        return float(np.average(targets - network.forward(X)[:, 0], weights=weights))

    def _raw_output(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=self.coefs_[0].dtype, reset=False)
        return outputs(X, self.coefs_, self.intercepts_, self.activation, self._output)[:, 0]


class ErrorEntropyMLPClassifier(ClassifierMixin, _ErrorEntropyMLP):
    r"""Binary classifier: perceptron with one hidden layer that minimises the entropy of its errors.

    Targets are -1 and 1, and the output activation is tanh. The loss is the entropy of the errors
    :math:`e_n = t_n - y(x_n)`, see :func:`entrolearn.measures.error_entropy`. Each epoch takes one gradient
    step on all rows. If the entropy does not increase, the learning rate is multiplied by `increase`. If it
    does, the step is undone and the learning rate is multiplied by `decrease`.

    Parameters
    ----------
    n_hidden : int, default=10
        Number of hidden units.
    bandwidth : float, default=1.0
        Bandwidth h of the error density; errors lie in [-2, 2]. With a narrow kernel the entropy has minima
        where all errors of a class are equal and far from those of the other class; below about 0.3 training
        fails.
    entropy : {"shannon", "renyi"}, default="shannon"
        Shannon's estimator, or Rényi's quadratic entropy.
    activation : {"tanh", "logistic"}, default="tanh"
        Activation of the hidden units.
    init : {"glorot"} or float, default="glorot"
        Bound of the uniform distribution of initial weights and intercepts: ±init, or Glorot's bounds as in
        scikit-learn.
    learning_rate : float, default=1.0
        Learning rate η of the first epoch.
    increase : float, default=1.2
        Factor u of the learning rate after a successful step, at least 1.
    decrease : float, default=0.5
        Factor d of the learning rate after an undone step, below 1.
    max_iter : int, default=200
        Number of epochs, including those whose step was undone.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial weights.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    coefs_ : list of ndarray, shapes (n_features, n_hidden) and (n_hidden, 1)
    intercepts_ : list of ndarray, shapes (n_hidden,) and (1,)
    offset_ : float
        The mean error of the training rows, which is added to the output of each row.
    loss_curve_ : ndarray of shape (`n_iter_`,)
        Entropy in nats of the accepted weights after each epoch; it never increases.
    learning_rates_ : ndarray of shape (`n_iter_`,)
        Learning rate of each epoch.
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    entrolearn.networks.MSEMLPClassifier : Minimises the mean squared error, for any number of classes.
    ErrorEntropyMLPRegressor : The regressor.

    Notes
    -----
    The entropy is invariant under a shift of all errors, and therefore does not determine a threshold between
    the classes. ``offset_`` makes the mean error zero, as in least squares. The outputs are not
    probabilities, so there is no ``predict_proba``.

    References
    ----------
    Silva, Marques de Sa and Alexandre (2005), Neural network classification using Shannon's entropy, ESANN.

    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, section
    "Classification in MLP by minimizing Error's Entropy", equation (1) and the rule for η.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import ErrorEntropyMLPClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> network = ErrorEntropyMLPClassifier(max_iter=500, random_state=0).fit(X, y)
    >>> network.score(X, y) > 0.95
    True
    """

    _output = "tanh"

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted network.

        Raises
        ------
        ValueError
            If y does not have two classes.
        """
        X, y = validate_data(self, X, y, dtype=(np.float64, np.float32))
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode_two(y, type(self).__name__)
        self.offset_ = self._train(X, 2.0 * codes - 1, weights)
        return self

    def decision_function(self, X) -> np.ndarray:
        """The output of each row plus ``offset_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        output : ndarray of shape (n_samples,)
            ``offset_`` plus a value in [-1, 1]; positive for ``classes_[1]``.
        """
        return self._raw_output(X) + self.offset_

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        output = self.decision_function(X)
        return self.classes_[(output > 0).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class ErrorEntropyMLPRegressor(RegressorMixin, _ErrorEntropyMLP):
    """Perceptron with one hidden layer and a linear output that minimises the entropy of its errors.

    Like :class:`ErrorEntropyMLPClassifier`, but the targets are the values of y. The entropy does not depend
    on the output's intercept, which is set after training such that the mean error of the training rows is
    zero.

    Parameters
    ----------
    n_hidden : int, default=10
        Number of hidden units.
    bandwidth : float, default=1.0
        Bandwidth h of the error density, in units of the spread of y. If it is much larger than the errors,
        the entropy ranks networks by the variance of the errors; if it is smaller, a few large errors have
        less influence.
    entropy : {"shannon", "renyi"}, default="shannon"
        Shannon's estimator, or Rényi's quadratic entropy.
    activation : {"tanh", "logistic"}, default="tanh"
        Activation of the hidden units.
    init : {"glorot"} or float, default="glorot"
        Bound of the uniform distribution of initial weights and intercepts: ±init, or Glorot's bounds as in
        scikit-learn.
    learning_rate : float, default=1.0
        Learning rate η of the first epoch.
    increase : float, default=1.2
        Factor u of the learning rate after a successful step, at least 1.
    decrease : float, default=0.5
        Factor d of the learning rate after an undone step, below 1.
    normalize_y : bool, default=True
        Whether to subtract the median from y and divide it by its spread. The spread is the smaller one of
        the standard deviation and the interquartile range / 1.349, which is robust against a few large
        values. If False, bandwidth and learning rate are in the units of y.
    max_iter : int, default=200
        Number of epochs, including those whose step was undone.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial weights.

    Attributes
    ----------
    coefs_ : list of ndarray, shapes (n_features, n_hidden) and (n_hidden, 1)
    intercepts_ : list of ndarray, shapes (n_hidden,) and (1,)
    loss_curve_ : ndarray of shape (`n_iter_`,)
        Entropy in nats of the accepted weights after each epoch; it never increases.
    learning_rates_ : ndarray of shape (`n_iter_`,)
        Learning rate of each epoch.
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    entrolearn.networks.MSEMLPRegressor : Minimises the mean squared error.

    References
    ----------
    Erdogmus and Principe (2002), An error-entropy minimization algorithm for supervised training of
    nonlinear adaptive systems, IEEE Transactions on Signal Processing 50, 1780-1786.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import ErrorEntropyMLPRegressor
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.sin(3 * X[:, 0])
    >>> network = ErrorEntropyMLPRegressor(bandwidth=0.5, max_iter=500, random_state=0).fit(X, y)
    >>> network.score(X, y) > 0.98
    True
    """

    _parameter_constraints: dict = {
        **_ErrorEntropyMLP._parameter_constraints,
        "normalize_y": ["boolean"],
    }
    _output = "identity"

    def __init__(
        self,
        n_hidden=10,
        *,
        bandwidth=1.0,
        entropy="shannon",
        activation="tanh",
        init="glorot",
        learning_rate=1.0,
        increase=1.2,
        decrease=0.5,
        normalize_y=True,
        max_iter=200,
        random_state=None,
    ):
        super().__init__(
            n_hidden,
            bandwidth=bandwidth,
            entropy=entropy,
            activation=activation,
            init=init,
            learning_rate=learning_rate,
            increase=increase,
            decrease=decrease,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.normalize_y = normalize_y

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted network.

        Raises
        ------
        ValueError
            If values are too large for the dtype of X.
        """
        X, y = validate_data(self, X, y, dtype=(np.float64, np.float32), y_numeric=True)
        X, y, weights = weighted_rows(X, y, sample_weight)
        check_values(y, X.dtype, type(self).__name__)
        centre, spread = _centre_and_spread(y, weights) if self.normalize_y else (0.0, 1.0)
        mean_error = self._train(X, (y - centre) / spread, weights)
        self.coefs_[1] *= spread
        self.intercepts_[1] += mean_error
        self.intercepts_[1] *= spread
        self.intercepts_[1] += centre
        return self

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._raw_output(X)


def _centre_and_spread(y: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float]:
    """The median and the smaller nonzero measure of spread, or 1 if all values are equal."""
    if not np.ptp(y):
        return float(y[0]), 1.0
    unit = float(np.abs(y).max())  # squares of numbers far below one underflow
    scaled = y / unit
    # This method gives the same quantiles if every row is duplicated.
    quarters = np.array([0.25, 0.5, 0.75])
    if weights is None:
        first, centre, third = np.quantile(scaled, quarters, method="averaged_inverted_cdf")
        deviation = scaled.std()
    else:  # the same, as NumPy supports weights only for inverted_cdf
        lower = np.quantile(scaled, quarters, weights=weights, method="inverted_cdf")
        upper = -np.quantile(-scaled, 1 - quarters, weights=weights, method="inverted_cdf")
        first, centre, third = (lower + upper) / 2
        deviation = np.sqrt(np.cov(scaled, aweights=weights, ddof=0))
    measures = deviation, (third - first) / IQR_OF_A_GAUSSIAN
    return float(centre) * unit, float(min(measure for measure in measures if measure > 0)) * unit


def _bytes_needed(n_samples: int, n_features: int, n_hidden: int, itemsize: int) -> float:
    """Peak memory of training in bytes, without the rows."""
    layer, weights = itemsize * n_samples * n_hidden, itemsize * (n_features + 2) * n_hidden
    # Hidden values and slopes, plus either their products or the grid of the entropy; and the weights, their
    # backup, the gradient and a step.
    return 2 * layer + max(layer, BYTES_OF_ENTROPY * n_samples) + 50 * n_samples + 4 * weights


class _Objective:
    """The entropy of a network's errors on all rows.

    Attributes
    ----------
    gradient : Parameters
        Gradient at the last call of :meth:`differentiate`.
    """

    def __init__(self, network: Perceptron, X, targets, bandwidth: float, entropy: str, weights=None):
        self._network, self._X, self._targets, self._weights = network, X, targets, weights
        self._bandwidth, self._entropy = bandwidth, entropy
        coefs = network.parameters.coefs
        self.gradient = Parameters((*coefs[0].shape, coefs[1].shape[1]), X.dtype)

    def value(self) -> float:
        """The entropy at the network's parameters; infinite if outputs or products of parameters overflow."""
        errors = self._targets - self._network.forward(self._X)[:, 0]
        if not (np.isfinite(errors).all() and self._network.parameters.have_products()):
            return np.inf
        entropy, self._slopes = error_entropy(
            errors, self._bandwidth, entropy=self._entropy, sample_weight=self._weights
        )
        return entropy

    def differentiate(self) -> None:
        """Compute the gradient at the parameters of the last call of :meth:`value`."""
        by_outputs = -self._slopes[:, np.newaxis].astype(self._X.dtype)
        self._network.backward(self._X, by_outputs, self.gradient)
