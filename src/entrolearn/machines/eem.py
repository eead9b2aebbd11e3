"""Extreme entropy machines: a hidden layer and the entropy discriminant.

Czarnecki and Tabor (2015), "Extreme Entropy Machines: Robust information theoretic classification".
"""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Self
from warnings import warn

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.utils.extmath import softmax as softmax_of_rows

from entrolearn.kernels import KERNELS, kernel_params
from entrolearn.machines.additive import AdditiveOverClasses, InBox, OnLandmarks
from entrolearn.machines.base import (
    Machine,
    check_place,
    class_priors,
    encode,
)
from entrolearn.machines.device_units import VALUES
from entrolearn.machines.devices import as_columns, in_double, like, namespace
from entrolearn.machines.entropy_path import eekm_path, eem_path
from entrolearn.machines.gradients import log_joint_slopes, units_gradient
from entrolearn.machines.layers import (
    ACTIVATIONS,
    GAMMAS,
    POWER,
    NystromLayer,
    RandomLayer,
    project_rows,
)
from entrolearn.machines.moments import ClassMoments
from entrolearn.machines.readouts import (
    SHRINKAGES,
    EntropyReadout,
    class_covariances,
    entropy_discriminant,
    fitted_covariance,
)
from entrolearn.path import path
from entrolearn.validation import (
    HasMethods,
    Interval,
    StrOptions,
    class_error_weights,
    is_numpy,
    numpy_dtype,
    to_numpy,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["EEKMClassifier", "EEMClassifier"]


class _EntropyMachine(AdditiveOverClasses, Machine):
    """A hidden layer, the entropy discriminant, and Bayes' rule on the projected class Gaussians."""

    _parameter_constraints: dict = {
        "covariance": [
            StrOptions(set(SHRINKAGES)),
            Interval(Real, 1e-150, 1e150, closed="both"),
            HasMethods("fit"),
        ],
        "pool_below": [Interval(Integral, 0, None, closed="left")],
        "priors": ["array-like", dict, StrOptions({"empirical"}), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "random_state": ["random_state"],
    }

    @validated(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the machine: one pass of moments, one Cholesky solve.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows, one of weight zero is left out.
            The size of a class is the sum of its weights or, where that is more, as for weights that add up
            to one, its number of rows. Which rows are landmarks does not depend on their weights.

        Returns
        -------
        self : object
            The fitted machine.

        Raises
        ------
        ValueError
            If y holds one class only, `priors` or `class_weight` does not fit the classes, `keep_sums` goes
            with a `covariance` that is an estimator, `sample_weight` holds negative numbers, or such that are
            not whole with a `covariance` that is an estimator.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._accepted_dtypes())
        X, y, weights = weighted_rows(X, y, sample_weight)
        self._forget()
        self.classes_, codes = encode(y, type(self).__name__)
        self.priors_ = self._density_weights(self.classes_, np.bincount(to_numpy(codes), weights))
        if self.keep_sums:
            self._refuse_sums()
        if hasattr(self.covariance, "fit") and weights is not None and (weights % 1).any():
            raise ValueError(
                f"sample_weight holds {weights[weights % 1 > 0][0]:g}; with covariance={self.covariance!r} "
                "whole numbers are accepted, as numbers of copies, and any weights with "
                f"{', '.join(map(repr, SHRINKAGES))} or a number."
            )
        self._fit_rows(X, codes, weights)
        return self

    def _density_weights(self, classes: np.ndarray, counts) -> np.ndarray:
        """Weights of the class densities, which add up to one, given the sizes of the classes."""
        priors = class_priors(self.priors, classes, counts)
        if self.class_weight is None:
            return priors
        return class_priors(priors * class_error_weights(self.class_weight, classes, counts), classes)

    def _refuse_sums(self):
        if hasattr(self.covariance, "fit"):
            raise ValueError(
                f"covariance={self.covariance!r} needs all rows at once; accepted of rows that come in "
                f"chunks, and with keep_sums: {', '.join(map(repr, SHRINKAGES))} or a number."
            )
        self._density_weights(self.classes_, np.ones(len(self.classes_)))

    def _solve_sums(self, moments, dtype):
        self.priors_ = self._density_weights(self.classes_, [m.n for m in moments])
        return self._read_out(*self._gaussians_of(moments), dtype)

    def _fit_rows(self, X, codes, weights):
        if not hasattr(self.covariance, "fit"):
            super()._fit_rows(X, codes, weights)
            return
        self._layer = self._draw_layer(X, weights)
        if self._read_out(*self._class_gaussians(X, codes, weights), numpy_dtype(X)):
            self._warn_of_few(np.bincount(codes, weights))
        else:
            self._fit_rows(in_double(X), codes, weights)

    def _finish(self, moments, dtype):
        solved = super()._finish(moments, dtype)
        if solved:
            self._warn_of_few([m.n_rows for m in moments])
        return solved

    def _warn_of_few(self, counts: Sequence[int]) -> None:
        """Warn of classes whose covariances are pooled."""
        few = [label for label, n in zip(self.classes_.tolist(), counts, strict=True) if n < self.pool_below]
        if few:
            warn(
                f"{type(self).__name__}: fewer than pool_below={self.pool_below} rows of the classes {few}, "
                "which take the mean projected covariance of the others, or of all where all have so few.",
                stacklevel=2,
            )

    def _read_out(self, means, covariances, shrinkages: np.ndarray, dtype) -> bool:
        """Solve and keep the solution; return False if single precision is not accurate enough."""
        readout = entropy_discriminant(means, covariances, dtype, self.pool_below)
        if readout is None:
            return False
        self.shrinkage_ = like(shrinkages, self._layer.where)
        self._keep(readout)
        return True

    def _class_gaussians(self, X, codes: np.ndarray, weights: np.ndarray | None = None):
        """Mean and covariance of each class in the hidden space, and the shrinkages."""
        if hasattr(self.covariance, "fit"):
            rows = np.repeat(np.arange(len(codes)), 1 if weights is None else weights.astype(np.int64))
            by_class = [self._layer(X[rows[codes[rows] == c]]) for c in range(len(self.classes_))]
            means = np.array([H.mean(axis=0) for H in by_class])
            covariances = [fitted_covariance(self.covariance, H) for H in by_class]
            return means, covariances, np.zeros(len(self.classes_))
        return self._gaussians_of(self._add_rows(self._no_sums(X, codes), X, codes, weights))

    def _gaussians_of(self, moments: Sequence[ClassMoments]):
        """The same from the moments of the classes."""
        covariances, shrinkages = class_covariances(moments, self.covariance)
        means = [m.mean for m in moments]
        return namespace(means[0]).stack(means), covariances, shrinkages

    def _keep(self, readout: EntropyReadout) -> None:
        self.solver_info_ = readout.solver_info
        if readout.solver_info["degenerate"]:
            warn(
                f"{type(self).__name__}: the class means coincide in the hidden space, the machine answers "
                "with one class; are the features constant, or far from the feature_range?",
                stacklevel=3,
            )
        self._gaussians = readout.gaussians(to_numpy(self.priors_))
        where = self._layer.where
        coef = like(self._layer.fold(readout.coef), where, readout.solver_info["dtype"])
        self._layer = self._layer.lean()
        self.priors_ = like(self.priors_, where)
        if len(self.classes_) == 2:
            self.hidden_coef_ = coef[:, 0]
            self.projected_means_ = like(readout.means[:, 0], where)
            self.projected_variances_ = like(readout.covariances[:, 0, 0], where)
            self.thresholds_ = like(self._gaussians.thresholds(), where)
        else:
            self.hidden_coef_ = coef
            self.projected_means_ = like(readout.means, where)
            self.projected_variances_ = like(readout.covariances, where)

    def hidden(self, X) -> np.ndarray:
        """The rows as the hidden layer maps them, where the classes are modelled as Gaussians.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        H : ndarray of shape (n_samples, n_hidden)
            Sigmoid units less one, which keeps the digits of those that are saturated.
        """
        X = self._rows(X, "hidden")
        return self._layer(X)

    def _rows(self, X, method: str):
        """Rows for a method of the fitted machine, checked."""
        self._check_is_fitted()
        check_place(self, X, method)
        return validate_data(self, X, accept_sparse="csr", dtype=list(self._dtypes), reset=False)

    def hidden_gaussians(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """The Gaussians that `fit` would take for the classes of these rows in this machine's hidden space.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels among ``classes_``, each at least once.

        Returns
        -------
        means : ndarray of shape (n_classes, n_hidden)
        covariances : ndarray of shape (n_classes, n_hidden, n_hidden)

        Raises
        ------
        ValueError
            If the labels are others than the machine's.
        """
        self._check_is_fitted()
        check_place(self, X, "hidden_gaussians")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=list(self._dtypes), reset=False)
        found, codes = np.unique(to_numpy(y), return_inverse=True)
        if found.tolist() != self.classes_.tolist():
            raise ValueError(
                f"y holds the labels {found.tolist()}; this machine's are {self.classes_.tolist()}."
            )
        means, covariances, _ = self._class_gaussians(X, codes)
        return means, namespace(means).stack([covariance.dense() for covariance in covariances])

    def project(self, X) -> np.ndarray:
        """The projection whose class densities the machine compares.

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
        """The projection, shape (n_samples, n_components), for a method of the machine."""
        X = self._rows(X, method)
        (projected,) = project_rows(self._layer, X, [as_columns(self.hidden_coef_)])
        return projected

    def _gradient(self, X):
        def slopes(projected):
            found = log_joint_slopes(self._gaussians, projected)
            return found[:, 1:, :] - found[:, :1, :] if len(self.classes_) == 2 else found

        layer, coef = self._linear_part()
        return units_gradient(layer, X, coef, slopes)

    def _log_joint(self, X, method: str):
        projected = self._projected(X, method)
        return self._gaussians.log_joint(projected)

    def decision_function(self, X) -> np.ndarray:
        """Log odds of the classes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_odds : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Two classes: ln of the odds of ``classes_[1]``, in nats; its sign decides. More: ln of the class
            weight times the class density in the projected space; the largest decides.
        """
        log_joint = self._log_joint(X, "decision_function")
        return log_joint[:, 1] - log_joint[:, 0] if len(self.classes_) == 2 else log_joint

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
        log_joint = self._log_joint(X, "predict_proba")
        return softmax(log_joint, axis=1) if is_numpy(log_joint) else softmax_of_rows(log_joint)

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities, finite where these underflow.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        log_joint = self._log_joint(X, "predict_log_proba")
        if is_numpy(log_joint):
            return log_softmax(log_joint, axis=1)
        xp = namespace(log_joint)
        below = log_joint - xp.max(log_joint, axis=1, keepdims=True)
        return below - xp.log(xp.sum(xp.exp(below), axis=1, keepdims=True))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = not hasattr(self.covariance, "fit")
        return tags


class EEMClassifier(InBox, _EntropyMachine):
    r"""Extreme entropy machine: random hidden units, then the most divergent projection in closed form.

    The classes are modelled as one Gaussian each in the space of the hidden units, with means m and
    covariances Σ. The machine projects onto the line on which the Cauchy–Schwarz divergence of the two is (up
    to a term that hardly matters) largest,

    .. math:: \beta = \frac{2 (\Sigma_+ + \Sigma_-)^{-1} (m_+ - m_-)}
              {(m_+ - m_-)^T (\Sigma_+ + \Sigma_-)^{-1} (m_+ - m_-)},

    and compares the two projected densities, which gives one or two thresholds.

    Parameters
    ----------
    n_hidden : int, default=250
        Number of hidden units.
    activation : {"sigmoid", "nsigmoid", "rbf", "sine", "hardlimit"} or callable, default="rbf"
        Of a unit with weights w and bias b, both drawn from U[0, 1]. ``"sigmoid"``:
        1 / (1 + exp(-<w, x> + b)); ``"nsigmoid"``: the same with <w, x> / n_features; ``"rbf"``:
        exp(-gamma ||w - x||^2); ``"sine"``: sin(<w, x> - b); ``"hardlimit"``: 1 where <w, x> >= b, else 0
        (on features of both signs: on [0, 1] it is 1 almost everywhere). A callable gets <w, x> - b, an array
        of shape (n_samples, n_hidden).
    gamma : {"log-uniform", "uniform"}, default="log-uniform"
        How each rbf unit draws its gamma. ``"log-uniform"``: ln gamma uniform between the logarithms of
        0.3 / n_features and 30 / n_features, which suits few and many features, in [0, 1] or standardised;
        ``"uniform"``: from U[0, 1], as in the paper. Units of ``"sigmoid"`` have weights and biases from
        U[0, 1] with ``"uniform"``, as in the paper, and otherwise normal weights of variance
        30 / n_features and biases such that their steps cross the box: on 42 sets this raises the mean GMEAN
        from 69 to 86. Other activations do not use it.
    feature_range : {"data"}, pair, array of shape (2, n_features) or None, default="data"
        The box in which the units are drawn: bounds of the features, which the units see moved to [0, 1].
        ``"data"``: least and largest value of each feature in the training rows that are not far out (more
        than ten times further from the median than the median of the values on their side; with more than
        1024 rows, a draw of as many tells which). Features that do not vary there are not seen.
        :meth:`partial_fit` takes the box of its first rows. A pair or an array: lower and upper bounds. None:
        features as they are, as in the paper, which scales them before.
    covariance : {"ledoit_wolf", "oas", "empirical"}, float or estimator, default="ledoit_wolf"
        How the covariance of a class is estimated. A number, at least 1e-150, is a ridge added to the
        empirical one; an estimator is one of :mod:`sklearn.covariance`, cloned for each class.
    pool_below : int, default=7
        A class of fewer training rows takes the mean of the other classes' projected covariances for its own,
        with a warning of :meth:`fit`; where all classes have so few rows they share the mean of all. Mean
        recall of a class of two rows on 17 data sets: 42 %, and 22 % with its own, as in the paper: 0.
    priors : dict, array-like of shape (n_classes,), "empirical" or None, default=None
        Weights of the class densities: prior probabilities, costs or their products; only their ratios
        matter. A mapping from each label to its weight, or weights in the order of the sorted labels;
        ``"empirical"``: the numbers of training rows. None weighs all classes alike, whatever their sizes.
    class_weight : dict, "balanced" or None, default=None
        Costs of errors on the rows of each class, by which `priors` are multiplied; means and covariances are
        those without. ``"balanced"``: inversely proportional to the class sizes; with ``priors="empirical"``
        that weighs all classes alike, as None and None do.
    keep_sums : bool, default=False
        Whether :meth:`fit` keeps its sums over the rows, n_hidden² numbers for each class, so that
        :meth:`partial_fit` and :meth:`forget` go on from it. It then computes in double precision.
    precision : {"input", "mixed"}, default="input"
        ``"input"``: rows in single precision are multiplied in single precision, other rows in double.
        ``"mixed"``: all rows are rounded to single precision and multiplied in it, here and in predictions,
        which takes about half the time; sums over blocks of rows, covariances and the solution are in double
        precision. A feature that varies by less than 1e-6 of its largest value is lost. As with rows in
        single precision, a fit that would lose the digits of a covariance computes in double
        (``solver_info_["dtype"]``), and so does :meth:`partial_fit`, always.
    random_state : int, RandomState instance or None, default=None
        Draws the units. The units of a smaller machine are the first units of a larger one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    feature_range_ : ndarray of shape (2, n_features), or None
        The box in use. Given as `feature_range`, it lets machines of other rows share the units.
    hidden_coef_ : ndarray of shape (n_hidden,), or (n_hidden, n_components) for more than two classes
        The projection, eq. (4): the projected class means lie two apart.
    projected_means_ : ndarray of shape (2,), or (n_classes, n_components)
    projected_variances_ : ndarray of shape (2,), or (n_classes, n_components, n_components)
    thresholds_ : ndarray of shape (0,), (1,) or (2,)
        Two classes only: where on the projected line the answer changes, ascending.
    priors_ : ndarray of shape (n_classes,)
        Weights of the class densities, `priors` times `class_weight`, normalised.
    shrinkage_ : ndarray of shape (n_classes,)
        Of each class covariance.
    solver_info_ : dict
        ``ridge`` that had to be added for the Cholesky factor to exist (0 ordinarily); whether the machine is
        ``degenerate``: equal class means, one constant answer; and the ``dtype`` of the computation: that of
        X, or "float64" where single precision leaves no digits of a covariance.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    EEKMClassifier : The same on a random subset of a kernel's feature space.
    EntropySearch : Chooses ``n_hidden`` without hold-out data.

    Notes
    -----
    Eq. (4) is taken as derived in the text; Algorithm 1 prints the norm where its square is meant. The
    paper's random layers expect features in [0, 1], to which `feature_range` moves them; for more than two
    classes, which the paper leaves open, class Gaussians are compared in the space spanned by Sigma^-1 times
    the class means.

    An empirical covariance, and that of two rows, which Ledoit and Wolf do not shrink, is singular where
    there are fewer rows than units. Variances below 1e-12 of their sum over all units are what rounding
    leaves: a covariance without a larger ridge gets this much (the mean over the classes) on its diagonal,
    so that directions in which no class is seen to vary separate by the distance of the class means. Whatever
    `pool_below` is, a class of no more rows than components (one row of two classes, two of three), whose
    projected covariance is singular whatever its rows are, takes the mean of the other classes' for it.

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
        "gamma": [StrOptions(set(GAMMAS))],
        **InBox._parameter_constraints,
        "keep_sums": ["boolean"],
        "precision": [StrOptions({"input", "mixed"})],
        **_EntropyMachine._parameter_constraints,
    }

    def __init__(
        self,
        n_hidden=250,
        *,
        activation="rbf",
        gamma="log-uniform",
        feature_range="data",
        covariance="ledoit_wolf",
        pool_below=7,
        priors=None,
        class_weight=None,
        keep_sums=False,
        precision="input",
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.activation = activation
        self.gamma = gamma
        self.feature_range = feature_range
        self.covariance = covariance
        self.pool_below = pool_below
        self.priors = priors
        self.class_weight = class_weight
        self.keep_sums = keep_sums
        self.precision = precision
        self.random_state = random_state

    @property
    def _dtypes(self):
        return (np.float32,) if self.precision == "mixed" else (np.float64, np.float32)

    def _layer_on(self, survey, rng):
        return RandomLayer.draw(
            survey.n_features,
            self.n_hidden,
            self.activation,
            rng,
            gamma=self.gamma,
            below_one=True,
            dtype=survey.dtype,
        ).in_box(self._box(survey))


class EEKMClassifier(OnLandmarks, _EntropyMachine):
    """Extreme entropy kernel machine: kernel features of random landmarks, then the entropy discriminant.

    After fitting, the Nyström layer and the projection are folded into one hidden layer of kernel units
    (section 6 of the paper): a prediction costs what :class:`EEMClassifier`'s does.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of training rows that span the feature space, drawn without replacement; all rows where
        there are fewer.
    landmarks : {array-like, CSR matrix} of shape (n_given, n_features), default=None
        Landmarks in the place of ``n_landmarks`` drawn ones. With rows from elsewhere machines of other rows
        share the layer, and every training row can be forgotten; ``"scale"`` is then of these rows.
    kernel : str or callable, default="rbf"
        A positive semi-definite kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    gamma : float, {"scale", "auto"}, default="scale"
        Of the rbf kernel exp(-gamma ||x - z||^2), poly and sigmoid: ``"scale"`` is
        1 / (n_features * X.var()), ``"auto"`` 1 / n_features.
    degree : float, default=3
        Of the poly kernel.
    coef0 : float, default=1
        Of poly and sigmoid.
    power : float, default=1.0
        Of the exponential_power kernel, exp(-r^power) with r² = gamma ||x - z||²; in (0, 2].
    covariance : {"ledoit_wolf", "oas", "empirical"}, float or estimator, default="ledoit_wolf"
        As in :class:`EEMClassifier`.
    pool_below : int, default=7
        As in :class:`EEMClassifier`.
    priors : dict, array-like of shape (n_classes,), "empirical" or None, default=None
        As in :class:`EEMClassifier`.
    class_weight : dict, "balanced" or None, default=None
        As in :class:`EEMClassifier`.
    keep_sums : bool, default=False
        Whether :meth:`fit` keeps its sums over the rows, n_landmarks² numbers for each class, so that
        :meth:`partial_fit` and :meth:`forget` go on from it.
    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmarks_ : {ndarray, CSR matrix} of shape (n_landmarks, n_features)
    hidden_coef_ : ndarray of shape (n_landmarks,), or (n_landmarks, n_components) for more than two classes
        The folded projection: coefficients of the kernel values with the landmarks.
    projected_means_ : ndarray of shape (2,), or (n_classes, n_components)
    projected_variances_ : ndarray of shape (2,), or (n_classes, n_components, n_components)
    thresholds_ : ndarray of shape (0,), (1,) or (2,)
        Two classes only: where on the projected line the answer changes, ascending.
    priors_ : ndarray of shape (n_classes,)
        Weights of the class densities, `priors` times `class_weight`, normalised.
    shrinkage_ : ndarray of shape (n_classes,)
        Of each class covariance.
    solver_info_ : dict
        ``ridge`` that had to be added for the Cholesky factor to exist (0 ordinarily); whether the machine is
        ``degenerate``: equal class means, one constant answer; and the ``dtype`` of the computation: that of
        X, or "float64" where single precision leaves no digits of a covariance.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    EEMClassifier : The same on random hidden units.
    sklearn.kernel_approximation.Nystroem : The layer alone.

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
        **OnLandmarks._parameter_constraints,
        "kernel": [StrOptions(KERNELS), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "power": POWER,
        "keep_sums": ["boolean"],
        **_EntropyMachine._parameter_constraints,
    }

    def __init__(
        self,
        n_landmarks=100,
        *,
        landmarks=None,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1,
        power=1.0,
        covariance="ledoit_wolf",
        pool_below=7,
        priors=None,
        class_weight=None,
        keep_sums=False,
        random_state=None,
    ):
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.power = power
        self.covariance = covariance
        self.pool_below = pool_below
        self.priors = priors
        self.class_weight = class_weight
        self.keep_sums = keep_sums
        self.random_state = random_state

    _width = "gamma"

    def _layer_on(self, survey, rng):
        survey = self._surveyed(survey)
        gamma = survey.gamma(self.gamma)
        params = kernel_params(
            survey.landmarks, self.kernel, gamma, self.degree, self.coef0, power=self.power
        )
        return NystromLayer.on(survey.landmarks, self.kernel, params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support &= self.kernel in VALUES
        return tags


path.register(EEMClassifier, eem_path)
path.register(EEKMClassifier, eekm_path)
