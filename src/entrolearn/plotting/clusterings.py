"""Clusterings of two-dimensional data, side by side."""

from textwrap import fill

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from entrolearn.plotting.display import Display, points
from entrolearn.plotting.style import (
    NOISE_STYLE,
    Figure,
    cluster_styles,
    legend_above,
    mpl,
    plt,
    say,
    say_below,
)

SIDE, TYPE = 1.3, 8  # panel size in inches for a font size of 8 points, which it scales with
LETTERS = 16  # maximum number of letters in a line of a name
NOISE = -1  # the label of rows that are in no cluster, as in scikit-learn


class ClusteringsDisplay(Display):
    """Panels of clusterings: data sets in rows, clusterers in columns, with adjusted Rand indices.

    Clusters that mostly hold the same class have the same style in all panels. The adjusted Rand index is in
    the corner; rows left out as noise are crosses, and one group in the index.

    Parameters
    ----------
    X : mapping of str to array-like, shape (n_samples, 2)
        Name and rows of each data set.
    y : mapping of str to array-like of int, shape (n_samples,)
        Classes of the rows of each data set; they are not used for clustering.
    clusterings : mapping of str to mapping of str to array-like of int, shape (n_samples,), or str
        For each data set, clusters by the name of the clusterer, -1 for noise. A text is shown instead of
        missing clusters and should state the reason.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes, shape (n_sets, n_clusterers)
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.cluster import HDBSCAN, KMeans
    >>> from sklearn.datasets import make_blobs, make_moons
    >>> from entrolearn.plotting import ClusteringsDisplay
    >>> X, y = {}, {}
    >>> X["moons"], y["moons"] = make_moons(200, noise=0.05, random_state=0)
    >>> X["blobs"], y["blobs"] = make_blobs(random_state=0)
    >>> clusterers = {"k-means": KMeans(3, random_state=0), "HDBSCAN": HDBSCAN(copy=True)}
    >>> clusterings = {
    ...     name: {who: one.fit_predict(rows) for who, one in clusterers.items()} for name, rows in X.items()
    ... }
    >>> display = ClusteringsDisplay(X, y, clusterings)
    >>> round(display.agreement("moons", "HDBSCAN"), 2)
    1.0
    >>> display.plot()
    <...>
    """

    def __init__(self, X, y, clusterings):
        self.X = X
        self.y = y
        self.clusterings = clusterings

    def agreement(self, name: str, clusterer: str) -> float:
        """Adjusted Rand index of a clusterer on a data set."""
        return float(adjusted_rand_score(self.y[name], self.clusterings[name][clusterer]))

    def _style_numbers(self, name: str, clusterer: str) -> np.ndarray:
        """Number of each row's style: that of the class that its cluster stands for, -1 for noise.

        Clusters are assigned to classes such that as many rows as possible are in the cluster of their class;
        the other clusters use the next styles, the largest first.
        """
        labels = np.asarray(self.clusterings[name][clusterer])
        clustered = labels != NOISE
        if not clustered.any():
            return labels
        shared = contingency_matrix(self.y[name], labels)[:, np.unique(labels) != NOISE]
        n_classes, n_clusters = shared.shape
        chosen = dict(zip(*reversed(linear_sum_assignment(shared, maximize=True)), strict=True))
        left = sorted(set(range(n_clusters)) - set(chosen), key=lambda c: -shared[:, c].sum())
        chosen |= {c: n_classes + k for k, c in enumerate(left)}
        looks = np.full(len(labels), NOISE)
        for c, label in enumerate(np.unique(labels[clustered])):
            looks[labels == label] = chosen[c]
        return looks

    subject = "Clusters of points in the plane, with the adjusted Rand index"

    def summary(self) -> str:
        drawn = {
            name: [
                f"{who} {self.agreement(name, who):.2f}" for who in found if not isinstance(found[who], str)
            ]
            for name, found in self.clusterings.items()
        }
        return "; ".join(f"{name}: {', '.join(said)}" for name, said in drawn.items() if said)

    def _parts(self):
        for name, found in self.clusterings.items():
            for who, clusters in found.items():
                if not isinstance(clusters, str):
                    of_all = {"class": self.y[name], "cluster": clusters}
                    at = {"set": name, **points(who, self.X[name])}
                    yield at | of_all | {"ari": self.agreement(name, who)}

    def plot(self, ax=None) -> "ClusteringsDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : array of matplotlib Axes, shape (n_sets, n_clusterers), optional
            Default: those of a new figure.

        Returns
        -------
        self
        """
        names = list(self.clusterings)
        columns = list(dict.fromkeys(who for found in self.clusterings.values() for who in found))
        wanted = (len(names), len(columns))
        if ax is None:
            ax = clustering_axes(*wanted, figure=plt.figure(layout="constrained"))
        if np.shape(ax) != wanted:
            raise ValueError(f"ax has the shape {np.shape(ax)}; accepted: {wanted}, sets by clusterers")
        self.axes_ = np.asarray(ax, dtype=object)
        self.figure_ = self.axes_[0, 0].figure
        for row, name in zip(self.axes_, names, strict=True):
            for panel, who in zip(row, columns, strict=True):
                self._plot_panel(panel, name, who)
            row[0].set_ylabel(fill(name, LETTERS))
        for panel, who in zip(self.axes_[0], columns, strict=True):
            panel.set_title(fill(who, LETTERS), fontsize=mpl.rcParams["font.size"])
        legend_above(self.figure_, *self.axes_.flat)
        return self

    def _plot_panel(self, ax, name: str, who: str) -> None:
        ax.set(xticks=[], yticks=[])
        found = self.clusterings[name].get(who, "no clusters")
        if isinstance(found, str):
            say(ax, found)
            return
        looks = self._style_numbers(name, who)
        styles = dict(enumerate(cluster_styles(int(looks.max()) + 1)))
        points = np.asarray(self.X[name])
        size = float(np.clip(2500 / len(points), 2, 9))
        for number, style in {NOISE: NOISE_STYLE, **styles}.items():
            faces = {"facecolors": style["face"], "edgecolors": style["color"]}
            if style["marker"] == "x":  # this marker has no face colour
                faces = {"color": style["color"]}
            at = points[looks == number]
            if number == NOISE and len(at):
                faces["label"] = "in no cluster"
            # Rasterise thousands of markers; everything else is drawn as vector graphics.
            ax.scatter(*at.T, s=size, marker=style["marker"], linewidths=0.5, rasterized=True, **faces)
        # Leave room below for the adjusted Rand index.
        low, high = points[:, 1].min(), points[:, 1].max()
        ax.set_ylim(low - 0.16 * (high - low), high + 0.05 * (high - low))
        say_below(ax, [f"ARI {self.agreement(name, who):.2f}"])


def clustering_axes(n_sets: int, n_clusterers: int, *, figure: Figure | None = None) -> np.ndarray:
    """Axes of the panels, on a given figure or on a new one that is not registered with pyplot."""
    figure = Figure(layout="constrained") if figure is None else figure
    side = SIDE * mpl.rcParams["font.size"] / TYPE
    figure.set_size_inches(side * n_clusterers + 0.3, side * n_sets + 0.4)
    return figure.subplots(n_sets, n_clusterers, squeeze=False)
