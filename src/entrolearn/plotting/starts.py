"""Results of optimizers from random starts: the value of each start, and the best of several."""

import numpy as np

from entrolearn.measures import expected_maximum
from entrolearn.plotting.display import Display
from entrolearn.plotting.style import (
    THRESHOLD_STYLE,
    distinct_styles,
    guide_lines,
    log_scale,
    say_below,
)

N_BINS = 40
NARROWEST = 0.01  # smallest relative range of a histogram, about the tolerance of an optimizer
ENOUGH = 95  # percentage of the best value
MARKED = 16  # number of starts at which the curves are marked


class StartsDisplay(Display):
    """Histograms of the objective over many random starts, with one outline per solver.

    Parameters
    ----------
    objectives : mapping of str to array-like, shape (n_starts,)
        Name of each solver and its final value from each start; NaN if a start failed.
    objective_name : str, default="objective"

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, Figure 3.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.plotting import StartsDisplay
    >>> rng = np.random.default_rng(0)
    >>> found = {"one": rng.choice([1.0, 2.0, 2.5], 500), "other": rng.choice([2.0, 2.5], 500)}
    >>> StartsDisplay(found).plot()
    <...>
    """

    def __init__(self, objectives, *, objective_name="objective"):
        self.objectives = objectives
        self.objective_name = objective_name

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.objective_name, "starts, %"

    def bins(self) -> np.ndarray:
        """The bin edges, common to all histograms."""
        values = np.concatenate([reached(found) for found in self.objectives.values()])
        low, high = values.min(), values.max()
        lacking = max(0.0, NARROWEST * max(abs(low), abs(high)) - (high - low))
        return np.linspace(low - lacking / 2, high + lacking / 2, N_BINS + 1)

    @property
    def subject(self) -> str:
        return f"Histograms of the {self.objective_name} where random starts end: least, median, largest"

    def summary(self) -> str:
        values = {name: reached(found) for name, found in self.objectives.items()}
        return "; ".join(
            f"{name} {found.min():.3g}, {np.median(found):.3g}, {found.max():.3g} in {len(found)} starts"
            for name, found in values.items()
            if len(found)
        )

    def _parts(self):
        for name, found in self.objectives.items():
            yield {"series": name, "start": np.arange(1, len(found) + 1), "objective": found}

    def _plot(self, ax) -> None:
        styles = distinct_styles(len(self.objectives), "histograms")
        bins = self.bins()
        for (name, found), style in zip(self.objectives.items(), styles, strict=True):
            heights = 100 * np.histogram(reached(found), bins)[0] / len(found)
            ax.stairs(heights, bins, fill=True, color=style["color"], alpha=0.15)
            ax.stairs(heights, bins, label=name, **style)
        say_below(ax, gaps(self.objectives))
        guide_lines(ax, "y")
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])


class ExpectedMaximumDisplay(Display):
    """Expected best value of several starts, against their number or cost.

    The expectation is exact over all subsets of the observed starts
    (:func:`~entrolearn.measures.expected_maximum`).

    Parameters
    ----------
    objectives : mapping of str to array-like, shape (n_starts,)
        Name of each solver and its final value from each start; NaN if a start failed, which is left out.
    costs : mapping of str to float, optional
        Mean seconds of a start of each solver. The horizontal axis is then the total time of the starts, so
        that fast and accurate solvers can be compared.
    relative : bool, default=False
        Whether values are shown in percent of the best value of all solvers.
    objective_name : str, default="objective"

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, Figure 4.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.plotting import ExpectedMaximumDisplay
    >>> rng = np.random.default_rng(0)
    >>> found = {"fast": rng.uniform(0, 2, 500), "good": rng.uniform(1, 2, 500)}
    >>> ExpectedMaximumDisplay(found, costs={"fast": 0.1, "good": 1.0}, relative=True).plot()
    <...>
    """

    def __init__(self, objectives, *, costs=None, relative=False, objective_name="objective"):
        self.objectives = objectives
        self.costs = costs
        self.relative = relative
        self.objective_name = objective_name

    @property
    def axis_names(self) -> tuple[str, str]:
        what = "% of the best" if self.relative else self.objective_name
        return "starts" if self.costs is None else "seconds", f"expected best, {what}"

    def best(self) -> float:
        """The best value of all starts."""
        return max(float(reached(found).max()) for found in self.objectives.values())

    def curve(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Cost and expected best value of one, two, … all starts of a solver."""
        expected = expected_maximum(reached(self.objectives[name]))
        n_starts = np.arange(1, len(expected) + 1)
        x = n_starts if self.costs is None else n_starts * self.costs[name]
        return x, 100 * expected / self.best() if self.relative else expected

    @property
    def subject(self) -> str:
        return f"{self.axis_names[1]} of several starts, against their number"

    def summary(self) -> str:
        reached_by = {name: self.curve(name)[1] for name in self.objectives}
        return "; ".join(
            f"{name} " + ", ".join(f"{y[n - 1]:.3g} with {n}" for n in (1, MARKED) if n <= len(y))
            for name, y in reached_by.items()
        )

    def _parts(self):
        for name in self.objectives:
            expected = expected_maximum(reached(self.objectives[name]))
            of_best = {"percent_of_best": 100 * expected / self.best()} if self.relative else {}
            yield {"series": name, "starts": np.arange(1, len(expected) + 1), "expected": expected} | of_best

    def _plot(self, ax) -> None:
        if self.relative and not self.best() > 0:
            raise ValueError(
                f"the best objective is {self.best():g}; accepted with relative=True: positive objectives"
            )
        styles = distinct_styles(len(self.objectives), "curves")
        for name, style in zip(self.objectives, styles, strict=True):
            x, y = self.curve(name)
            ax.plot(x, y, label=name, **style)
            if self.costs is not None and len(x) >= MARKED:
                ax.plot(x[MARKED - 1], y[MARKED - 1], marker="o", markersize=4, color=style["color"])
        if self.costs is None:
            ax.axvline(MARKED, label=f"{MARKED} starts", **THRESHOLD_STYLE)
        else:
            look = {"marker": "o", "markersize": 4, "linestyle": "none", "color": "black"}
            ax.plot([], [], label=f"{MARKED} starts", **look)
        best = []
        if self.relative:
            ax.axhline(ENOUGH, label=f"{ENOUGH} % of the best", **THRESHOLD_STYLE | {"linestyle": "--"})
            best = [f"best: {self.best():.3g}"]
        say_below(ax, [*gaps(self.objectives), *best])
        guide_lines(ax, "both")
        log_scale(ax.xaxis, np.concatenate([self.curve(name)[0] for name in self.objectives]))
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])


def reached(objectives) -> np.ndarray:
    """The values of the starts that are not NaN."""
    values = np.asarray(objectives, dtype=float)
    return values[~np.isnan(values)]


def gaps(objectives) -> list[str]:
    """Text with the number of failed starts of each solver."""
    lost = {name: int(np.isnan(np.asarray(found, dtype=float)).sum()) for name, found in objectives.items()}
    return [
        f"{name}: nothing from {lost[name]} of {len(found)}"
        for name, found in objectives.items()
        if lost[name]
    ]
