"""Perceptrons with one hidden layer that minimise the mean squared error, by stochastic gradient descent."""

from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from entrolearn.networks.perceptron import INITS, LARGEST_INIT, Parameters, Perceptron, outputs
from entrolearn.networks.targets import check_values, one_hot
from entrolearn.validation import (
    Interval,
    StrOptions,
    encode,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["MSEMLPClassifier", "MSEMLPRegressor"]


class _MSEMLP(BaseEstimator):
    """Parameters and training of the classifier and the regressor.

    A subclass sets the activation of its outputs, ``_output``.
    """

    _parameter_constraints: dict = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions({"logistic", "tanh"})],
        "init": [StrOptions(INITS), Interval(Real, 0, LARGEST_INIT[8], closed="right")],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), tuple, list],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _train(self, X: np.ndarray, T: np.ndarray, weights: np.ndarray | None) -> None:
        """Train on targets of shape (n_samples, n_outputs), and set the fitted attributes."""
        rates = _rates(self.learning_rate)
        rng = check_random_state(self.random_state)
        sizes = X.shape[1], self.n_hidden, T.shape[1]
        parameters = Parameters.drawn(sizes, self.init, self.activation, rng, X.dtype)
        network = Perceptron(parameters, self.activation, self._output, min(self.batch_size, len(X)))
        sources = [X, T]
        if weights is not None:
            sources.append((weights / weights.mean()).astype(X.dtype)[:, np.newaxis])
        batches = _Batches(sources, self.batch_size)
        self.loss_curve_ = []
        for epoch in range(self.max_iter):
            with np.errstate(over="ignore", invalid="ignore"):  # checked below
                loss = _epoch(network, batches, rates, rng)
            if not (np.isfinite(loss) and parameters.have_products()):
                raise ValueError(
                    f"the weights are not finite after epoch {epoch + 1}: learning_rate="
                    f"{self.learning_rate!r} is too large for these rows; take a smaller one, or scale the "
                    "features, and the values of a regression"
                )
            self.loss_curve_.append(loss)
        self.n_iter_ = self.max_iter
        self.coefs_, self.intercepts_ = parameters.coefs, parameters.intercepts

    def _outputs(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=self.coefs_[0].dtype, reset=False)
        return outputs(X, self.coefs_, self.intercepts_, self.activation, self._output)


class MSEMLPClassifier(ClassifierMixin, _MSEMLP):
    r"""Perceptron with one hidden layer that minimises the squared error of logistic outputs.

    There is one output per class, with target 1 for the rows of the class and 0 for all others. The loss is

    .. math:: J = \frac{1}{2 N} \sum_n \|y(x_n) - t_n\|^2

    It is minimised by stochastic gradient descent on batches, with the rows shuffled in each epoch.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden units.
    activation : {"logistic", "tanh"}, default="logistic"
        Activation of the hidden units.
    init : {"glorot"} or float, default="glorot"
        Bound of the uniform distribution of initial weights and intercepts: ±init, or Glorot's bounds as in
        scikit-learn.
    learning_rate : float or pair of float, default=1.0
        Step size. A pair has the step sizes of the hidden layer and of the output layer.
    batch_size : int, default=32
        Rows per batch; 1 means online learning.
    max_iter : int, default=100
        Number of epochs.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial weights and of the order of the rows in each epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coefs_ : list of ndarray, shapes (n_features, n_hidden) and (n_hidden, n_classes)
    intercepts_ : list of ndarray, shapes (n_hidden,) and (n_classes,)
    loss_curve_ : list of float
        J in each epoch; the error of each row is computed before the step of its batch.
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    SoftmaxRegression : Minimises the cross-entropy, without a hidden layer.
    entrolearn.ErrorEntropyMLPClassifier : Minimises the entropy of the errors.
    sklearn.neural_network.MLPClassifier : Minimises the cross-entropy, with any number of layers.

    Notes
    -----
    For rows in single precision all computations are in single precision.

    The paper's code has sigmoids of slope β = 0.01, weights from U[-1, 1] and the learning rate α = 0.1, and
    omits the factor β in the derivatives. With weights multiplied by β, this is equivalent to this network
    with sigmoids of slope 1, ``init=0.01``, ``learning_rate=(0.1, 0.001)`` and ``batch_size=1``: α for the
    hidden layer and αβ for the output layer.

    References
    ----------
    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, section
    "Comparison to Multilayer Perceptron" and the second listing of the appendix.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from entrolearn.networks import MSEMLPClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> network = MSEMLPClassifier(n_hidden=10, random_state=0).fit(scale(X), y)
    >>> network.score(scale(X), y) > 0.95
    True
    """

    _output = "logistic"

    def __init__(
        self,
        n_hidden=100,
        *,
        activation="logistic",
        init="glorot",
        learning_rate=1.0,
        batch_size=32,
        max_iter=100,
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.activation = activation
        self.init = init
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the squared errors, divided by their mean; a row of weight 0 is ignored. If a batch
            contains all rows, a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
            The fitted network.

        Raises
        ------
        ValueError
            If y has only one class, or the learning rate is so large that the weights diverge.
        """
        X, y = validate_data(self, X, y, dtype=(np.float64, np.float32))
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode(y, type(self).__name__)
        self._train(X, one_hot(codes, len(self.classes_), X.dtype), weights)
        return self

    def predict(self, X) -> np.ndarray:
        """The class of the largest output of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        found = self._outputs(X)
        return self.classes_[found.argmax(axis=1)]

    def predict_proba(self, X) -> np.ndarray:
        """Outputs of each row, normalised to sum 1.

        An output that minimises the squared error estimates the probability of its class, but training does
        not make the outputs add up to 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
        """
        found = self._positive_outputs(X)
        return found / found.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities, finite even if the probabilities underflow.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        found = self._positive_outputs(X)
        return np.log(found) - np.log(found.sum(axis=1, keepdims=True))

    def _positive_outputs(self, X) -> np.ndarray:
        found = self._outputs(X)
        return np.maximum(found, np.finfo(found.dtype).tiny, out=found)


class MSEMLPRegressor(MultiOutputMixin, RegressorMixin, _MSEMLP):
    """Perceptron with one hidden layer and linear outputs that minimises the mean squared error.

    Like :class:`MSEMLPClassifier`, but the targets are the values of y.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden units.
    activation : {"logistic", "tanh"}, default="tanh"
        Activation of the hidden units.
    init : {"glorot"} or float, default="glorot"
        Bound of the uniform distribution of initial weights and intercepts: ±init, or Glorot's bounds as in
        scikit-learn.
    learning_rate : float or pair of float, default=0.01
        Step size. If the loss increases, it is too large, because linear outputs are unbounded.
    batch_size : int, default=32
        Rows per batch; 1 means online learning.
    max_iter : int, default=100
        Number of epochs.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial weights and of the order of the rows in each epoch.

    Attributes
    ----------
    coefs_ : list of ndarray, shapes (n_features, n_hidden) and (n_hidden, n_outputs)
    intercepts_ : list of ndarray, shapes (n_hidden,) and (n_outputs,)
    loss_curve_ : list of float
        J in each epoch; the error of each row is computed before the step of its batch.
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    entrolearn.ErrorEntropyMLPRegressor : Minimises the entropy of the errors.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.networks import MSEMLPRegressor
    >>> X = np.linspace(-1, 1, 400)[:, None]
    >>> y = np.sin(3 * X[:, 0])
    >>> network = MSEMLPRegressor(n_hidden=20, learning_rate=0.1, random_state=0).fit(X, y)
    >>> network.score(X, y) > 0.97
    True
    """

    _output = "identity"

    def __init__(
        self,
        n_hidden=100,
        *,
        activation="tanh",
        init="glorot",
        learning_rate=0.01,
        batch_size=32,
        max_iter=100,
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.activation = activation
        self.init = init
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the squared errors, divided by their mean; a row of weight 0 is ignored. If a batch
            contains all rows, a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
            The fitted network.

        Raises
        ------
        ValueError
            If the learning rate is so large that the weights diverge, or values are too large for the dtype
            of X.
        """
        X, y = validate_data(self, X, y, dtype=(np.float64, np.float32), multi_output=True, y_numeric=True)
        X, y, weights = weighted_rows(X, y, sample_weight)
        self._one_value = y.ndim == 1
        check_values(y, X.dtype, type(self).__name__)
        self._train(X, y.reshape(len(y), -1).astype(X.dtype, copy=False), weights)
        return self

    def predict(self, X) -> np.ndarray:
        """The values of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs), as in ``fit``
        """
        found = self._outputs(X)
        return found[:, 0] if self._one_value else found


class _Batches:
    """Batches of rows, targets and optional weights, in buffers that the next batch overwrites."""

    def __init__(self, sources: list[np.ndarray], batch_size: int):
        self._sources, self.n_rows = sources, len(sources[0])
        self._slices = list(gen_batches(self.n_rows, batch_size))
        most = min(batch_size, self.n_rows)
        self._buffers = [np.empty((most, source.shape[1]), source.dtype) for source in sources]

    def drawn(self, rng: np.random.RandomState):
        """Yield batches in a random order: rows, targets and, if given, weights."""
        order = rng.permutation(self.n_rows)
        for batch in self._slices:
            rows = order[batch]
            yield [
                np.take(source, rows, axis=0, out=buffer[: len(rows)], mode="clip")  # other modes copy out
                for source, buffer in zip(self._sources, self._buffers, strict=True)
            ]


def _epoch(
    network: Perceptron, batches: _Batches, rates: tuple[float, float], rng: np.random.RandomState
) -> float:
    """Train for one epoch; return the mean loss of the batches before their steps."""
    total = 0.0
    for X, T, *weights in batches.drawn(rng):
        errors = np.subtract(network.forward(X), T, out=T)
        slopes = errors * weights[0] if weights else errors
        total += float(np.vdot(errors, slopes))
        scales = [-rate / len(X) for rate in rates]
        network.backward(X, slopes, network.parameters, scales=scales, kept=1.0)
    return 0.5 * total / batches.n_rows


def _rates(learning_rate) -> tuple[float, float]:
    """The learning rates of both layers.

    Raises
    ------
    ValueError
        If `learning_rate` is not a positive number or a pair of them.
    """
    rates = np.ravel(learning_rate)
    if len(rates) not in (1, 2) or not all(
        isinstance(r, Real) and 0 < float(r) < np.inf for r in rates.tolist()
    ):
        raise ValueError(
            f"learning_rate is {learning_rate!r}; accepted: a positive number, or a pair of them, for the "
            "hidden layer and the output layer"
        )
    return float(rates[0]), float(rates[-1])
