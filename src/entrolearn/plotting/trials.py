"""Scores of several trials."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import guide_lines, plot_lines


class TrialsDisplay(Display):
    """Scores of several learners in each trial.

    Parameters
    ----------
    scores : mapping of str to array-like, shape (n_trials,)
        For each learner, of at most six, its name and its scores; NaN for a trial without a score.
    score_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Deng, Ong and Zheng, A Fast Reduced Kernel Extreme Learning Machine, Figure 3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import ShuffleSplit, cross_val_score
    >>> from sklearn.svm import SVC
    >>> from entrolearn.plotting import TrialsDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> trials = ShuffleSplit(5, random_state=0)
    >>> learners = {"rbf": SVC(), "linear": SVC(kernel="linear")}
    >>> scores = {name: cross_val_score(one, X, y, cv=trials) for name, one in learners.items()}
    >>> TrialsDisplay(scores, score_name="accuracy").plot()
    <...>
    """

    def __init__(self, scores, *, score_name):
        self.scores = scores
        self.score_name = score_name

    @property
    def axis_names(self) -> tuple[str, str]:
        return "split", self.score_name

    @property
    def subject(self) -> str:
        return f"{self.score_name} of each split: mean ± standard deviation"

    def summary(self) -> str:
        said = self.to_frame().groupby("series", sort=False)["score"].agg(["mean", "std"])
        return "; ".join(f"{name} {of['mean']:.4g} ± {of['std']:.2g}" for name, of in said.iterrows())

    def _parts(self):
        for name, scores in self.scores.items():
            yield {"series": name, "trial": np.arange(1, len(scores) + 1), "score": scores}

    def _plot(self, ax) -> None:
        plot_lines(ax, {name: (np.arange(1, len(one) + 1), one) for name, one in self.scores.items()})
        guide_lines(ax, "y")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="split", ylabel=self.score_name)
