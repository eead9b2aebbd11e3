"""Extreme entropy machines: a hidden layer, then the entropy discriminant.

Czarnecki and Tabor (2015), "Extreme Entropy Machines: Robust information theoretic classification".
"""

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.utils.extmath import softmax

from entrolearn.kernels import KERNEL_CONSTRAINTS, ON_DEVICES, KernelParameters, kernel_params
from entrolearn.machines.additive import AdditiveClassifier
from entrolearn.machines.base import check_place, labels_of
from entrolearn.machines.boxes import BOUNDS, LANDMARKS, STORE_SUMS, Landmarks, RandomUnits
from entrolearn.machines.devices import as_columns, like, namespace
from entrolearn.machines.entropy_path import entropy_path, first_part_sources
from entrolearn.machines.gradients import log_joint_slopes
from entrolearn.machines.layers import (
    ACTIVATIONS,
    UNIT_SCALES,
    NystromLayer,
    RandomLayer,
    project_rows,
)
from entrolearn.machines.readouts import (
    SHRINKAGES,
    check_classes,
    class_gaussians,
    entropy_discriminant,
    fitted_covariance,
)
from entrolearn.path import path
from entrolearn.user_warnings import warn_user
from entrolearn.validation import (
    ARRAY_API,
    HasMethods,
    Interval,
    StrOptions,
    class_priors,
    is_numpy,
    to_numpy,
    validate_data,
    validated,
)

__all__ = ["EEKMClassifier", "EEMClassifier"]


class _EntropyMachine(AdditiveClassifier):
    """A hidden layer, the entropy discriminant, and Bayes' rule on the projected class Gaussians."""

    _parameter_constraints: dict = {
        "covariance": [
            StrOptions(set(SHRINKAGES)),
            Interval(Real, 1e-150, 1e150, closed="both"),
            HasMethods("fit"),
        ],
        "min_class_size": [Interval(Integral, 0, None, closed="left")],
        "priors": [StrOptions({"uniform", "empirical"}), dict, "array-like"],
        "store_sums": STORE_SUMS,
        "random_state": ["random_state"],
    }

    @validated(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the model: one pass for the moments, one Cholesky factorisation.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored. The size
            of a class is the sum of its weights or its number of rows, whichever is larger (for example for
            weights that add up to one). The choice of landmarks does not depend on the weights.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If y has only one class; `priors` does not fit the classes; `sample_weight` has negative values;
            or `covariance` is an estimator and `store_sums` is True or the sample weights are not integers.
        """
        return self._fit(X, y, sample_weight)

    def _check_settings(self, in_chunks, weights=None):
        if not hasattr(self.covariance, "fit"):
            pass
        elif in_chunks:
            raise ValueError(
                f"covariance={self.covariance!r} needs all rows at once; accepted for rows that come in "
                f"chunks, and with store_sums=True: {', '.join(map(repr, SHRINKAGES))} or a number."
            )
        elif weights is not None and (weights % 1).any():
            raise ValueError(
                f"sample_weight holds {weights[weights % 1 > 0][0]:g}; with covariance={self.covariance!r} "
                "whole numbers are accepted, as numbers of copies; any weights are accepted with "
                f"{', '.join(map(repr, SHRINKAGES))} or a number."
            )
        class_priors(self.priors, self.classes_, np.ones(len(self.classes_)))

    def _no_sums(self, X, codes):
        if is_numpy(X):
            check_classes(self._layer.n_units, len(self.classes_))
        return super()._no_sums(X, codes)

    def _sums(self, X, codes, weights):
        if not hasattr(self.covariance, "fit"):
            return super()._sums(X, codes, weights)
        check_classes(self._layer.n_units, len(self.classes_))
        rows = np.repeat(np.arange(len(codes)), 1 if weights is None else weights.astype(np.int64))
        by_class = (self._layer(X[rows[codes[rows] == c]]) for c in range(len(self.classes_)))
        return [fitted_covariance(self.covariance, H) for H in by_class]

    def _solve(self, sums, dtype=np.float64):
        priors = class_priors(self.priors, self.classes_, [m.n for m in sums])
        means, covariances, shrinkages = class_gaussians(sums, self.covariance)
        readout = entropy_discriminant(means, covariances, dtype, self.min_class_size)
        if readout.solver_info["degenerate"]:
            warn_user(
                f"{type(self).__name__}: the class means coincide in the hidden space, so the same class is "
                "always predicted; are the features constant, or far from the bounds?",
            )
        densities, where = readout.gaussians(priors), self._layer.where
        coef = like(self._layer.fold(readout.coef), where, readout.solver_info["dtype"])
        two = len(self.classes_) == 2
        fitted = {
            "priors_": priors,
            "shrinkage_": shrinkages,
            "projected_means_": readout.means[:, 0] if two else readout.means,
            "projected_variances_": readout.covariances[:, 0, 0] if two else readout.covariances,
            **({"thresholds_": densities.thresholds()} if two else {}),
        }
        return {
            **{name: like(value, where) for name, value in fitted.items()},
            "hidden_coef_": coef[:, 0] if two else coef,
            "solver_info_": readout.solver_info,
            "_gaussians": densities,
            "_layer": replace(self._layer),  # without what it has cached
        }

    def _warn(self, sums):
        sizes = zip(self.classes_.tolist(), sums, strict=True)
        few = [label for label, moments in sizes if moments.n_rows < self.min_class_size]
        if few:  # their covariances are pooled
            warn_user(
                f"{type(self).__name__}: fewer than min_class_size={self.min_class_size} rows of the classes "
                f"{few}; they use the mean projected covariance of the others, or of all if all have so few.",
            )

    def hidden(self, X) -> np.ndarray:
        """Activations of the hidden layer, the space in which the classes are modelled as Gaussians.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        H : ndarray of shape (n_samples, n_hidden)
            Of sigmoid units the activation minus one, which keeps the digits of saturated units.
        """
        X = self._rows(X, "hidden")
        return self._layer(X)

    def _rows(self, X, method: str):
        """Validated rows for a method of the fitted estimator."""
        self._check_is_fitted()
        check_place(self, X, method)
        return validate_data(self, X, accept_sparse="csr", dtype=list(self._dtypes), reset=False)

    def hidden_gaussians(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Gaussians that `fit` would estimate for the classes of these rows in this model's hidden space.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels in ``classes_``; each must occur.

        Returns
        -------
        means : ndarray of shape (n_classes, n_hidden)
        covariances : ndarray of shape (n_classes, n_hidden, n_hidden)

        Raises
        ------
        ValueError
            If the labels are not those of the model.
        """
        self._check_is_fitted()
        check_place(self, X, "hidden_gaussians")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=list(self._dtypes), reset=False)
        found, codes = np.unique(to_numpy(y), return_inverse=True)
        if found.tolist() != self.classes_.tolist():
            raise ValueError(
                f"y holds the labels {found.tolist()}; accepted: those of the fit, {self.classes_.tolist()}."
            )
        means, covariances, _ = class_gaussians(self._sums(X, codes, None), self.covariance)
        return means, namespace(means).stack([covariance.dense() for covariance in covariances])

    def project(self, X) -> np.ndarray:
        """Projection of the rows, on which the class densities are compared.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        projected : ndarray of shape (n_samples,), or (n_samples, n_components) for more than two classes
        """
        projected = self._projected(X, "project")
        return projected[:, 0] if len(self.classes_) == 2 else projected

    def _projected(self, X, method: str):
        """The projection, shape (n_samples, n_components), for a method of the estimator."""
        X = self._rows(X, method)
        (projected,) = project_rows(self._layer, X, [as_columns(self.hidden_coef_)])
        return projected

    def _output_slopes(self, projected):
        found = log_joint_slopes(self._gaussians, projected)
        return found[:, 1:, :] - found[:, :1, :] if len(self.classes_) == 2 else found

    def _log_joint(self, X, method: str):
        projected = self._projected(X, method)
        return self._gaussians.log_joint(projected)

    def predict(self, X) -> np.ndarray:
        """The most likely class of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        projected = self._projected(X, "predict")
        return labels_of(self._gaussians.most_likely(projected), self.classes_)

    def _log_odds(self, log_joint):
        """The decision values; see :meth:`decision_function`."""
        return log_joint[:, 1] - log_joint[:, 0] if len(self.classes_) == 2 else log_joint

    def decision_function(self, X) -> np.ndarray:
        """Log odds of the classes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_odds : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Two classes: the log odds of ``classes_[1]``, in nats; positive values predict it. More classes:
            the logarithm of the class weight times the class density in the projected space; the largest is
            predicted.
        """
        return self._log_odds(self._log_joint(X, "decision_function"))

    def predict_proba(self, X) -> np.ndarray:
        """Posterior probabilities under the projected Gaussians.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to one.
        """
        return softmax(self._log_joint(X, "predict_proba"), copy=False)

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities, finite even if these underflow.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        log_joint = self._log_joint(X, "predict_log_proba")
        xp = namespace(log_joint)
        log_joint -= xp.max(log_joint, axis=1, keepdims=True)
        log_joint -= xp.log(xp.sum(xp.exp(log_joint), axis=1, keepdims=True))
        return log_joint

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = ARRAY_API and not hasattr(self.covariance, "fit")
        return tags


class EEMClassifier(_EntropyMachine):
    r"""Extreme entropy machine: random hidden units and the projection of maximum divergence, in closed form.

    Each class is modelled as a Gaussian in the space of the hidden units, with mean m and covariance Σ. The
    rows are projected onto the line on which the Cauchy–Schwarz divergence of the two Gaussians is largest
    (up to a term of little influence),

    .. math:: \beta = \frac{2 (\Sigma_+ + \Sigma_-)^{-1} (m_+ - m_-)}
              {(m_+ - m_-)^T (\Sigma_+ + \Sigma_-)^{-1} (m_+ - m_-)},

    The two projected densities are then compared, which gives one or two thresholds.

    Parameters
    ----------
    n_hidden : int, default=250
        Number of hidden units.
    activation : {"sigmoid", "nsigmoid", "rbf", "sine", "hardlimit"} or callable, default="rbf"
        Activation of a unit with weights w and bias b, drawn from U[0, 1] unless `unit_scale` says otherwise.
        ``"sigmoid"``: 1 / (1 +
        exp(-<w, x> + b)); ``"nsigmoid"``: the same with <w, x> / n_features; ``"rbf"``: exp(-gamma ||w -
        x||^2); ``"sine"``: sin(<w, x> - b); ``"hardlimit"``: 1 where <w, x> >= b, else 0 (for features of
        both signs; on [0, 1] it is 1 almost everywhere). A callable receives <w, x> - b, an array of shape
        (n_samples, n_hidden).
    unit_scale : {"log-uniform", "uniform"}, default="log-uniform"
        Distribution of the gamma of each rbf unit. ``"log-uniform"``: ln gamma is uniform between the
        logarithms of 0.3 / n_features and 30 / n_features, which is suitable for few and many features, in
        [0, 1] or standardised. ``"uniform"``: U[0, 1], as in the paper. For ``"sigmoid"`` units,
        ``"uniform"`` draws weights and biases from U[0, 1], as in the paper; otherwise weights are normal
        with variance 30 / n_features, and biases such that the steps of the units are inside the box, which
        raises the mean GMEAN on 42 data sets from 69 to 86. Other activations ignore it.
    bounds : {"data"}, pair, array of shape (2, n_features) or None, default="data"
        The box in which the units are drawn: bounds of the features, which are scaled from it to [0, 1].
        ``"data"``: the least and the largest value of each feature in the training rows, without outliers. A
        value is an outlier if it is more than ten times further from the median than the median distance of
        the values on its side; with more than 1024 rows, a sample of 1024 decides. Features that are constant
        in these rows are ignored. :meth:`partial_fit` takes the box of its first rows. A pair or an array
        gives lower and upper bounds. None: features are not scaled, as in the paper, which scales them
        before.
    covariance : {"ledoit_wolf", "oas", "empirical"}, float or estimator, default="ledoit_wolf"
        Estimate of the covariance of a class. A number, at least 1e-150, is a ridge added to the empirical
        covariance; an estimator of :mod:`sklearn.covariance` is cloned for each class.
    min_class_size : int, default=7
        Classes with fewer training rows use the mean of the other classes' projected covariances, with a
        warning from :meth:`fit`; if all classes have so few rows, they share the mean of all. On 17 data sets
        the mean recall of a class of two rows is 42 %; with its own covariance (`min_class_size=0`, as in the
        paper) it is 22 %.
    priors : {"uniform", "empirical"}, dict or array-like of shape (n_classes,), default="uniform"
        Weights of the class densities: prior probabilities, costs or their products; only their ratios
        matter. A mapping from labels to weights, or weights in the order of the sorted labels;
        ``"uniform"``: the same weight for all classes, as with ``class_weight="balanced"`` elsewhere;
        ``"empirical"``: the numbers of training rows. Means and covariances do not depend on them.
    store_sums : bool or "auto", default="auto"
        Whether :meth:`fit` keeps its sums over the rows, n_hidden² numbers for each class, so that
        :meth:`partial_fit` and :meth:`forget` can update the fitted model. ``"auto"``: if they take less than
        64 MB and the rows are in double precision. With True, all computations are in double precision.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden units. A smaller model uses the first units of a larger one with the same seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    bounds_ : ndarray of shape (2, n_features), or None
        Bounds of the box in use. If they are passed as `bounds`, models of other rows share the hidden
        units.
    hidden_coef_ : ndarray of shape (n_hidden,), or (n_hidden, n_components) for more than two classes
        The projection, eq. (4); the distance of the projected class means is two.
    projected_means_ : ndarray of shape (2,), or (n_classes, n_components)
    projected_variances_ : ndarray of shape (2,), or (n_classes, n_components, n_components)
    thresholds_ : ndarray of shape (0,), (1,) or (2,)
        For two classes: points on the projected line where the predicted class changes, in ascending order.
    priors_ : ndarray of shape (n_classes,)
        Weights of the class densities, `priors`, normalised.
    shrinkage_ : ndarray of shape (n_classes,)
        Shrinkage of each class covariance.
    solver_info_ : dict
        ``ridge``: the ridge that was needed for the Cholesky factorisation (usually 0); ``degenerate``:
        whether the class means are equal and the prediction constant; ``dtype``: the dtype of the
        computation, that of X, or "float64" if single precision leaves no digits of a covariance.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    EEKMClassifier : The same with kernel features of random landmarks.
    EntropySearch : Selects ``n_hidden`` without held-out data.

    Notes
    -----
    Eq. (4) is used as derived in the text of the paper; its Algorithm 1 has the norm in place of its square.
    The random layers of the paper expect features in [0, 1], to which `bounds` scales them. The paper
    has two classes; for more classes, Gaussians are compared in the space spanned by Sigma^-1 times the class
    means.

    The empirical covariance is singular if there are fewer rows than units, and so is that of two rows, which
    Ledoit and Wolf do not shrink. Variances below 1e-12 of the sum over all units are rounding errors. If the
    ridge of a covariance is not larger, this amount (its mean over the classes) is added to the diagonal, so
    that directions without variance in any class separate by the distance of the class means. Regardless of
    `min_class_size`, a class with at most as many rows as components (one row for two classes, two rows for
    three) has a singular projected covariance, and uses the mean of the other classes.

    References
    ----------
    .. [1] W. M. Czarnecki and J. Tabor (2015). Extreme Entropy Machines: Robust information theoretic
       classification. arXiv:1501.05279.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from entrolearn import EEMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = EEMClassifier(n_hidden=100, random_state=0)
    >>> machine.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95
    True
    """

    _parameter_constraints: dict = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(ACTIVATIONS)), callable],
        "unit_scale": [StrOptions(set(UNIT_SCALES))],
        "bounds": BOUNDS,
        **_EntropyMachine._parameter_constraints,
    }
    _dtypes = (np.float64, np.float32)

    def __init__(
        self,
        n_hidden=250,
        *,
        activation="rbf",
        unit_scale="log-uniform",
        bounds="data",
        covariance="ledoit_wolf",
        min_class_size=7,
        priors="uniform",
        store_sums="auto",
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.activation = activation
        self.unit_scale = unit_scale
        self.bounds = bounds
        self.covariance = covariance
        self.min_class_size = min_class_size
        self.priors = priors
        self.store_sums = store_sums
        self.random_state = random_state

    def _units(self):
        settings = {"n_hidden": self.n_hidden, "activation": self.activation, "unit_scale": self.unit_scale}
        draw = partial(RandomLayer.draw, below_one=True, **settings)
        return RandomUnits(type(self).__name__, self.n_hidden, self.bounds, draw)


class EEKMClassifier(KernelParameters, _EntropyMachine):
    """Extreme entropy kernel machine: kernel features of random landmarks, then the entropy discriminant.

    After fitting, the Nyström layer and the projection are combined into one hidden layer of kernel units
    (section 6 of the paper), so that a prediction costs as much as for :class:`EEMClassifier`.

    Parameters
    ----------
    n_landmarks : int, or {array-like, CSR matrix} of shape (n_landmarks, n_features), default=100
        Number of training rows to draw as landmarks, without replacement; all rows if there are fewer. Or the
        landmarks themselves: if they are not training rows, models of different training sets share the
        hidden layer, and every training row can be forgotten. ``"scale"`` is then computed from them.
    kernel : str or callable, default="rbf"
        A positive semi-definite kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    gamma : float, {"scale", "auto"}, default="scale"
        gamma of the rbf kernel exp(-gamma ||x - z||^2), poly and sigmoid: ``"scale"`` is 1 / (n_features *
        X.var()), ``"auto"`` 1 / n_features.
    kernel_params : dict, default=None
        Further parameters of the kernel: ``degree`` (3) and ``coef0`` (1) of poly, ``coef0`` (1) of sigmoid,
        ``power`` (1) of exponential_power, exp(-r^power) with r² = gamma ||x - z||²; of a callable, its
        keyword arguments.
    covariance : {"ledoit_wolf", "oas", "empirical"}, float or estimator, default="ledoit_wolf"
        As for :class:`EEMClassifier`.
    min_class_size : int, default=7
        As for :class:`EEMClassifier`.
    priors : {"uniform", "empirical"}, dict or array-like of shape (n_classes,), default="uniform"
        As for :class:`EEMClassifier`.
    store_sums : bool or "auto", default="auto"
        Whether :meth:`fit` keeps its sums over the rows, n_landmarks² numbers for each class, so that
        :meth:`partial_fit` and :meth:`forget` can update the fitted model. ``"auto"``: if they take less than
        64 MB and the rows are in double precision. With True, all computations are in double precision.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmarks_ : {ndarray, CSR matrix} of shape (n_landmarks, n_features)
    hidden_coef_ : ndarray of shape (n_landmarks,), or (n_landmarks, n_components) for more than two classes
        The combined projection: coefficients of the kernel values with the landmarks.
    projected_means_ : ndarray of shape (2,), or (n_classes, n_components)
    projected_variances_ : ndarray of shape (2,), or (n_classes, n_components, n_components)
    thresholds_ : ndarray of shape (0,), (1,) or (2,)
        For two classes: points on the projected line where the predicted class changes, in ascending order.
    priors_ : ndarray of shape (n_classes,)
        Weights of the class densities, `priors`, normalised.
    shrinkage_ : ndarray of shape (n_classes,)
        Shrinkage of each class covariance.
    solver_info_ : dict
        ``ridge``: the ridge that was needed for the Cholesky factorisation (usually 0); ``degenerate``:
        whether the class means are equal and the prediction constant; ``dtype``: the dtype of the
        computation, always "float64".
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    EEMClassifier : The same with random hidden units.
    sklearn.kernel_approximation.Nystroem : Only the kernel features.

    References
    ----------
    .. [1] W. M. Czarnecki and J. Tabor (2015). Extreme Entropy Machines: Robust information theoretic
       classification. arXiv:1501.05279.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import EEKMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> machine = EEKMClassifier(n_landmarks=50, gamma=5.0, random_state=0).fit(X[:200], y[:200])
    >>> machine.score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints: dict = {
        **LANDMARKS,
        **KERNEL_CONSTRAINTS,
        **_EntropyMachine._parameter_constraints,
    }

    def __init__(
        self,
        n_landmarks=100,
        *,
        kernel="rbf",
        gamma="scale",
        kernel_params=None,
        covariance="ledoit_wolf",
        min_class_size=7,
        priors="uniform",
        store_sums="auto",
        random_state=None,
    ):
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.covariance = covariance
        self.min_class_size = min_class_size
        self.priors = priors
        self.store_sums = store_sums
        self.random_state = random_state

    @property
    def landmarks_(self):
        """The landmarks."""
        return self._layer.landmarks

    def _units(self):
        settings = self.n_landmarks, self.kernel, self.gamma
        return Landmarks(*settings, self._layer_on, first_part_sources)

    def _layer_on(self, landmarks, scale: float | None, rng) -> NystromLayer:
        gamma = scale if isinstance(self.gamma, str) and self.gamma == "scale" else self.gamma
        params = kernel_params(landmarks, self.kernel, gamma, self.kernel_params)
        return NystromLayer.on(landmarks, self.kernel, params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support &= self.kernel in ON_DEVICES
        return tags


path.register(_EntropyMachine, entropy_path)
