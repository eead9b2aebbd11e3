"""Loss curves of estimators."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.fitted import last_step, name_of, unwrapped
from entrolearn.plotting.style import guide_lines, log_scale, plot_lines


class LossCurvesDisplay(Display):
    """The objective after each iteration, with one line per learner.

    The axis of the iterations is logarithmic. That of the objective is logarithmic if all values are
    positive, which is not the case for some entropies.

    Parameters
    ----------
    losses : mapping of str to array-like, shape (n_iter,)
        For each learner its name and its objective after each iteration or epoch.
    loss_name : str, default="objective"
    step_name : str, default="iteration"

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.neural_network import MLPClassifier
    >>> from entrolearn.plotting import LossCurvesDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> net = MLPClassifier(max_iter=50, tol=0.01, random_state=0).fit(X, y)
    >>> LossCurvesDisplay.from_estimators({"MLP": net}, step_name="epoch").plot()
    <...>
    """

    def __init__(self, losses, *, loss_name="objective", step_name="iteration"):
        self.losses = losses
        self.loss_name = loss_name
        self.step_name = step_name

    @classmethod
    def from_estimators(
        cls, estimators, *, loss_name="objective", step_name="iteration"
    ) -> "LossCurvesDisplay":
        """Display of the loss curves of fitted learners.

        Parameters
        ----------
        estimators : mapping of str to fitted estimator
            Estimators of one class with ``loss_curve_``, or pipelines or searches that end in one.
        loss_name : str, default="objective"
        step_name : str, default="iteration"

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError, ValueError
            If an estimator is not fitted, or has no ``loss_curve_``, or the objectives differ.
        """
        losses = {name: _losses_of(estimator) for name, estimator in estimators.items()}
        kinds = dict.fromkeys(name_of(unwrapped(estimator)) for estimator in estimators.values())
        if len(kinds) > 1:
            raise ValueError(
                f"the objectives of {' and '.join(kinds)} do not share an axis; accepted: estimators of one "
                "class, and a display of its own for each class, such as in plot_panels"
            )
        return cls(losses, loss_name=loss_name, step_name=step_name)

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.step_name, self.loss_name

    @property
    def subject(self) -> str:
        return f"The {self.loss_name} after each {self.step_name}"

    def _parts(self):
        for name, losses in self.losses.items():
            yield {"series": name, "iteration": np.arange(1, len(losses) + 1), "loss": losses}

    def _plot(self, ax) -> None:
        curves = {name: np.asarray(losses, dtype=float) for name, losses in self.losses.items()}
        # Mark the end, where the learner stopped.
        lines = {name: (np.arange(1, len(losses) + 1), losses) for name, losses in curves.items()}
        plot_lines(ax, lines, markevery=slice(-1, None))
        every = np.concatenate(list(curves.values()))
        log_scale(ax.xaxis, [1, max(map(len, curves.values()))])
        if (every[np.isfinite(every)] > 0).all():
            log_scale(ax.yaxis, every[np.isfinite(every)])
        guide_lines(ax, "both")
        ax.set(xlabel=self.step_name, ylabel=self.loss_name)


def _losses_of(estimator) -> np.ndarray:
    last = last_step(unwrapped(estimator))
    if not hasattr(last, "loss_curve_"):
        raise TypeError(f"{name_of(last)} has no loss_curve_; accepted: estimators with one")
    return np.asarray(last.loss_curve_, dtype=float)
