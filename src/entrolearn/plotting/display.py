"""What all displays share: a picture, a table and a text of the same data."""

from collections.abc import Iterator, Mapping

import numpy as np

from entrolearn.plotting.style import new_axes


class Display:
    """A display of one picture, or of several that it draws itself.

    A subclass draws on axes in ``_plot``, and gives the columns of its table in ``_parts``, part by part. The
    name, the x and the y of a line come first.
    """

    @property
    def subject(self) -> str:
        """What is drawn, in a few words."""
        return ""

    @property
    def axis_names(self) -> tuple[str, str]:
        """What the axes show."""
        return "", ""

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        ax = new_axes() if ax is None else ax
        self._plot(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_frame(self):
        """The data that are drawn, as a tidy table.

        Returns
        -------
        pandas.DataFrame
            A row per point, row or pixel that is drawn.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__}.to_frame makes a table of pandas, which is not installed: "
                "pip install pandas"
            ) from error
        parts = [pandas.DataFrame(part) for part in self._parts()]
        return pandas.concat([part for part in parts if len(part)] or parts, ignore_index=True)

    def alternative_text(self) -> str:
        """What is drawn, in a sentence or two for readers who do not see the picture."""
        return f"{self.subject}. {self.summary()}."

    def summary(self) -> str:
        """The numbers that a reader would take from the picture: by default the two ends of each line."""
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
    """The columns of points of the plane, or of one line where they have a single coordinate.

    Parameters
    ----------
    series : str
        What they are called.
    at : array-like, shape (n_points, 2) or (n_points,)
    """
    at = np.asarray(at, dtype=float)
    x, y = (at, np.full(len(at), np.nan)) if at.ndim == 1 else at.T
    return {"series": series, "x": x, "y": y}
