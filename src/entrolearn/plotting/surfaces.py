"""Heat map of scores over two parameters."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.grids import grows_by_factors, set_scale
from entrolearn.plotting.style import ORDERED_COLOURS, say_below

N_CONTOURS = 6


class GridSurfaceDisplay(Display):
    """Heat map of a mean score over the values of two parameters, with contour lines.

    Parameters
    ----------
    x_values : sequence of numbers, shape (n_x,)
        Ascending values of the parameter on the horizontal axis.
    y_values : sequence of numbers, shape (n_y,)
        Ascending values of the parameter on the vertical axis.
    scores : array-like, shape (n_y, n_x)
        Mean scores; NaN is drawn as an empty cell.
    x_name, y_name, score_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Deng, Ong and Zheng, A Fast Reduced Kernel Extreme Learning Machine, Figure 1.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> from entrolearn.plotting import GridSurfaceDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> C, gamma = [0.1, 1, 10], [0.1, 1, 10]
    >>> search = GridSearchCV(SVC(), {"C": C, "gamma": gamma}).fit(X, y)
    >>> scores = search.cv_results_["mean_test_score"].reshape(len(C), len(gamma))
    >>> GridSurfaceDisplay(C, gamma, scores.T, x_name="C", y_name="gamma", score_name="accuracy").plot()
    <...>
    """

    def __init__(self, x_values, y_values, scores, *, x_name, y_name, score_name):
        self.x_values = x_values
        self.y_values = y_values
        self.scores = scores
        self.x_name = x_name
        self.y_name = y_name
        self.score_name = score_name

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.x_name, self.y_name

    @property
    def subject(self) -> str:
        return f"Mean {self.score_name} over {self.x_name} and {self.y_name}"

    def summary(self) -> str:
        known = self.to_frame().dropna(subset="mean").sort_values("mean")
        return "from " + " to ".join(
            f"{one['mean']:.4g} at {self.x_name} = {one['x']:g}, {self.y_name} = {one['y']:g}"
            for _, one in known.iloc[[0, -1] if len(known) else []].iterrows()
        )

    def _parts(self):
        xs, ys = np.meshgrid(self.x_values, self.y_values, indexing="ij")
        scores = np.asarray(self.scores, dtype=float)
        of_x = {"x_parameter": self.x_name, "x": xs.ravel()}
        yield of_x | {"y_parameter": self.y_name, "y": ys.ravel(), "mean": scores.T.ravel()}

    def _plot(self, ax) -> None:
        xs, ys = (np.asarray(values, dtype=float) for values in (self.x_values, self.y_values))
        scores = np.ma.masked_invalid(np.asarray(self.scores, dtype=float))
        for axis, values in ((ax.xaxis, xs), (ax.yaxis, ys)):
            if grows_by_factors(values):
                set_scale(axis, values)
        edges = [_edges(values, log=grows_by_factors(values)) for values in (xs, ys)]
        picture = ax.pcolormesh(*edges, scores, cmap=ORDERED_COLOURS, rasterized=True)
        if min(scores.shape) > 1 and scores.count() and np.ptp(scores.compressed()) > 0:
            lines = ax.contour(xs, ys, scores, levels=N_CONTOURS, colors="white", linewidths=0.6)
            ax.clabel(lines, fontsize="x-small", fmt="%g")
        ax.figure.colorbar(picture, ax=ax, label=self.score_name)
        if missing := int(np.ma.count_masked(scores)):
            ax.set_facecolor("0.9")
            say_below(ax, [f"no score at {missing} of {scores.size}"])
        ax.set(xlabel=self.x_name, ylabel=self.y_name)


def _edges(values: np.ndarray, *, log: bool) -> np.ndarray:
    """Cell edges of each value, halfway to its neighbours."""
    if len(values) == 1:
        return values[0] + np.array([-0.5, 0.5])
    places = np.log(values) if log else values
    between = (places[1:] + places[:-1]) / 2
    edges = np.concatenate([[2 * places[0] - between[0]], between, [2 * places[-1] - between[-1]]])
    return np.exp(edges) if log else edges
