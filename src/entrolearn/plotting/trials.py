"""Scores of several trials."""

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import ShuffleSplit, check_cv, cross_val_score

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import distinct_styles, guide_lines, say_below


class TrialsDisplay(Display):
    """Scores of several learners in each trial.

    Parameters
    ----------
    scores : mapping of str to array-like, shape (n_trials,)
        For each learner its name and its scores; NaN for a trial without a score.
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
    >>> from sklearn.svm import SVC
    >>> from entrolearn.plotting import TrialsDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> learners = {"rbf": SVC(), "linear": SVC(kernel="linear")}
    >>> TrialsDisplay.from_estimators(learners, X, y, cv=5).plot()
    <...>
    """

    def __init__(self, scores, *, score_name):
        self.scores = scores
        self.score_name = score_name

    @classmethod
    def from_estimators(
        cls, estimators, X, y, *, cv=None, scoring=None, score_name="score"
    ) -> "TrialsDisplay":
        """Fit and score every learner in the same trials.

        Parameters
        ----------
        estimators : mapping of str to estimator
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
        cv : int, scikit-learn splitter or iterable of splits, optional
            The trials, the same splits for every learner. An int stratifies by class if a learner is a
            classifier. Default: 20 random splits with a quarter of the rows as test rows.
        scoring : str or callable, optional
            As in scikit-learn's ``cross_val_score``.
        score_name : str, default="score"
        """
        cv = ShuffleSplit(20, test_size=0.25, random_state=0) if cv is None else cv
        stratified = any(is_classifier(estimator) for estimator in estimators.values())
        trials = list(check_cv(cv, y, classifier=stratified).split(X, y))
        scores = {
            name: cross_val_score(estimator, X, y, cv=trials, scoring=scoring)
            for name, estimator in estimators.items()
        }
        return cls(scores, score_name=score_name)

    @property
    def axis_names(self) -> tuple[str, str]:
        return "trial", self.score_name

    @property
    def subject(self) -> str:
        return f"{self.score_name} of each trial: mean ± standard deviation"

    def summary(self) -> str:
        said = self.to_frame().groupby("series", sort=False)["score"].agg(["mean", "std"])
        return "; ".join(f"{name} {of['mean']:.4g} ± {of['std']:.2g}" for name, of in said.iterrows())

    def _parts(self):
        for name, scores in self.scores.items():
            yield {"series": name, "trial": np.arange(1, len(scores) + 1), "score": scores}

    def _plot(self, ax) -> None:
        styles = distinct_styles(len(self.scores), "lines")
        gaps = []
        for (name, scores), style in zip(self.scores.items(), styles, strict=True):
            scores = np.asarray(scores, dtype=float)
            ax.plot(np.arange(1, len(scores) + 1), scores, label=name, marker="o", markersize=2.5, **style)
            if missing := int(np.isnan(scores).sum()):
                gaps.append(f"{name}: no score in {missing} of {len(scores)}")
            elif not len(scores):
                gaps.append(f"{name}: no score")
        say_below(ax, "\n".join(gaps))
        guide_lines(ax, "y")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="trial", ylabel=self.score_name)
