"""Density of an estimator's errors during training."""

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline

from entrolearn.plotting.display import Display
from entrolearn.plotting.fitted import class_codes, last_step, name_of
from entrolearn.plotting.style import THRESHOLD_STYLE, guide_lines, ordered_styles

POINTS = 400  # number of points of a density curve
PARTS = 60  # default kernel width: the range of all errors divided by this number
REACH = 4.0  # margin around the errors, in kernel widths


class ErrorDensityDisplay(Display):
    """Densities of an estimator's errors at several stages of training, from dark to light.

    All lines have the same kernel width, so that differences in their widths are those of the errors.

    Parameters
    ----------
    errors : mapping of str or int to array-like, shape (n_samples,)
        Stages, such as numbers of epochs, and the errors at each of them, in the order of training.
    bandwidth : float, optional
        Standard deviation of the Gaussian kernel. Default: a sixtieth of the range of all errors.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Silva, Marques de Sá and Alexandre, Neural Network Classification using Shannon's Entropy, ESANN (2005).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.neural_network import MLPRegressor
    >>> from entrolearn.plotting import ErrorDensityDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> net = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", random_state=0)
    >>> ErrorDensityDisplay.from_estimator(net, X, 2.0 * y - 1, epochs=[1, 5, 25]).plot()
    <...>
    """

    def __init__(self, errors, *, bandwidth=None):
        self.errors = errors
        self.bandwidth = bandwidth

    @classmethod
    def from_estimator(cls, estimator, X, y, *, epochs, bandwidth=None) -> "ErrorDensityDisplay":
        """Display of the errors of an estimator, fitted with several numbers of epochs from one start.

        Parameters
        ----------
        estimator : regressor, classifier of two classes, or a pipeline that ends in one
            Estimator with ``max_iter``. Clones are fitted; the start is the same if ``random_state`` is an
            integer.
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Targets. The error is the target minus the prediction. For a classifier the targets are -1 and 1,
            and the prediction is ``decision_function`` or, if it has none, twice the probability of the
            second class minus one.
        epochs : sequence of int
            Numbers of epochs, ascending.
        bandwidth : float, optional

        Raises
        ------
        TypeError, ValueError
            If the estimator has no ``max_iter`` or no output to compare, or there are not two classes.
        """
        name = f"{estimator.steps[-1][0]}__max_iter" if isinstance(estimator, Pipeline) else "max_iter"
        if name not in estimator.get_params():
            raise TypeError(f"{name_of(estimator)} has no max_iter; accepted: estimators with max_iter")
        errors = {
            number: errors_of(clone(estimator).set_params(**{name: number}).fit(X, y), X, y)
            for number in epochs
        }
        return cls(errors, bandwidth=bandwidth)

    @property
    def axis_names(self) -> tuple[str, str]:
        return "error", "density"

    def _width(self) -> float:
        """Kernel width; 1 if all errors are equal."""
        if self.bandwidth is not None:
            return self.bandwidth
        every = np.concatenate([np.asarray(errors, dtype=float) for errors in self.errors.values()])
        return float(np.ptp(every)) / PARTS or 1.0

    def _places(self) -> np.ndarray:
        """Points at which the densities are evaluated."""
        every = np.concatenate([np.asarray(errors, dtype=float) for errors in self.errors.values()])
        around = REACH * self._width()
        return np.linspace(every.min() - around, every.max() + around, POINTS)

    def density(self, time, at) -> np.ndarray:
        """The density of the errors after some number of epochs.

        Parameters
        ----------
        time : key of `errors`
        at : array-like, shape (n_places,)
            Values at which the density is computed, in the units of the errors.

        Returns
        -------
        ndarray, shape (n_places,)
        """
        errors, width = np.asarray(self.errors[time], dtype=float), self._width()
        spread = np.std(errors, ddof=1) if len(errors) > 1 else 0.0
        if spread < 1e-9 * width:
            # scipy multiplies its bandwidth by the standard deviation, which is zero for equal errors.
            away = (np.asarray(at) - errors.mean()) / width
            return np.exp(-(away**2) / 2) / (width * np.sqrt(2 * np.pi))
        return gaussian_kde(errors, bw_method=width / spread)(at)

    subject = "Densities of the errors, and their standard deviation"

    def summary(self) -> str:
        spread = {time: np.std(errors) for time, errors in self.errors.items()}
        return ", ".join(f"{std:.3g} at epoch {time}" for time, std in spread.items())

    def _parts(self):
        at = self._places()
        for time, errors in self.errors.items():
            drawn = {"time": time, "error": at, "density": self.density(time, at)}
            yield drawn | {"mean": np.mean(errors), "std": np.std(errors)}

    def _plot(self, ax) -> None:
        at = self._places()
        for time, style in zip(self.errors, ordered_styles(len(self.errors)), strict=True):
            ax.plot(at, self.density(time, at), label=f"epoch {time}", **style)
        ax.axvline(0.0, **THRESHOLD_STYLE)
        guide_lines(ax, "y")
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1], xlim=(at[0], at[-1]))
        ax.set_ylim(0, None)


def errors_of(fitted, X, y) -> np.ndarray:
    """Target minus output of a fitted regressor, or of a binary classifier with targets -1 and 1."""
    if is_regressor(fitted):
        return np.asarray(y, dtype=float) - fitted.predict(X)
    targets = 2.0 * class_codes(fitted, y) - 1
    if hasattr(fitted, "decision_function"):
        return targets - fitted.decision_function(X)
    if hasattr(fitted, "predict_proba"):
        return targets - (2 * fitted.predict_proba(X)[:, 1] - 1)
    raise TypeError(
        f"{name_of(last_step(fitted))} has neither decision_function nor predict_proba; "
        "accepted: regressors, and classifiers with one of them"
    )
