"""Base class of the displays: a plot, a data frame and a text description of the same data."""

from collections.abc import Iterator, Mapping

import numpy as np

from entrolearn.plotting.style import legend_above, new_axes


class Display:
    """Base class of displays with one Axes, or with several that they create themselves.

    Subclasses draw on the Axes in ``_plot``, and yield the columns of the data frame in ``_parts``, as one
    mapping per line or group of points. The first three columns are the name, x and y.
    """

    @property
    def subject(self) -> str:
        """Subject of the plot, in a few words."""
        return ""

    @property
    def axis_names(self) -> tuple[str, str]:
        """Names of the quantities on the x axis and the y axis."""
        return "", ""

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on, which get labelled artists, but no legend (see ``ax.legend``). Default: those of
            a new figure, with a legend above.

        Returns
        -------
        self
        """
        own = ax is None
        ax = new_axes() if own else ax
        self._plot(ax)
        if own:
            legend_above(ax.figure, ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_frame(self):
        """The plotted data as a tidy data frame.

        Returns
        -------
        pandas.DataFrame
            One row per plotted point, sample or pixel.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__}.to_frame needs pandas, which is not installed: pip install pandas"
            ) from error
        parts = [pandas.DataFrame(part) for part in self._parts()]
        return pandas.concat([part for part in parts if len(part)] or parts, ignore_index=True)

    def alternative_text(self) -> str:
        """A description of the plot in one or two sentences, for readers who cannot see it."""
        return f"{self.subject}. {self.summary()}."

    def summary(self) -> str:
        """The main numbers of the plot; by default the first and last finite point of each line."""
        return "; ".join(_ends(*list(part.values())[:3]) for part in self._parts())

    def _parts(self) -> Iterator[Mapping]:
        raise NotImplementedError

    def _plot(self, ax) -> None:
        raise NotImplementedError


def _ends(name: str, x, y) -> str:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.flatnonzero(np.isfinite(y))
    if not len(known):
        return f"{name} nothing"
    first, last = (f"{y[k]:.4g} at {x[k]:.4g}" for k in (known[0], known[-1]))
    return f"{name} {first}" if len(known) == 1 else f"{name} from {first} to {last}"


def points(series: str, at) -> dict:
    """Data frame columns of points with two coordinates, or with one (``y`` is then NaN).

    Parameters
    ----------
    series : str
        Name of the points.
    at : array-like, shape (n_points, 2) or (n_points,)
    """
    at = np.asarray(at, dtype=float)
    x, y = (at, np.full(len(at), np.nan)) if at.ndim == 1 else at.T
    return {"series": series, "x": x, "y": y}
