"""Scatter plot of own values against published values."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import guide_lines, log_scale

# Marker, fill and colour of each verdict, matching the report.
VERDICT_STYLES = {
    "reproduced": {"marker": "o", "facecolors": "#009E73", "edgecolors": "#009E73"},
    "higher": {"marker": "^", "facecolors": "none", "edgecolors": "#0072B2"},
    "lower": {"marker": "v", "facecolors": "none", "edgecolors": "#D55E00"},
}
# Ratio of the largest to the smallest value above which axes are logarithmic.
WIDE = 100


class AgreementDisplay(Display):
    """Own values against published values, by verdict, with the line of equality.

    Parameters
    ----------
    published, ours : array-like of float, shape (n_numbers,)
    verdicts : sequence of {"reproduced", "higher", "lower"}, length n_numbers
    name : str
        Name of the measured quantity, with its unit.
    band : float or None, default=None
        The median published ±, the half-width of a band around the line; None for no band.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from entrolearn.plotting import AgreementDisplay
    >>> display = AgreementDisplay(
    ...     [85.0, 90.1], [85.2, 93.0], ["reproduced", "higher"], name="accuracy, %", band=0.8
    ... )
    >>> display.plot()
    <...>
    """

    def __init__(self, published, ours, verdicts, *, name, band=None):
        self.published = published
        self.ours = ours
        self.verdicts = verdicts
        self.name = name
        self.band = band

    @property
    def axis_names(self) -> tuple[str, str]:
        return f"published {self.name}", f"own {self.name}"

    @property
    def subject(self) -> str:
        return f"{self.name} of one's own against published values"

    def summary(self) -> str:
        names, counts = np.unique(self.verdicts, return_counts=True)
        return ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))

    def _parts(self):
        yield {"verdict": self.verdicts, "published": self.published, "ours": self.ours}

    def _plot(self, ax) -> None:
        published, ours = np.asarray(self.published, dtype=float), np.asarray(self.ours, dtype=float)
        verdicts = np.asarray(self.verdicts)
        both = np.concatenate([published, ours])
        wide = both.min() > 0 and both.max() > WIDE * both.min()
        low, high = (
            (both.min() / 1.3, both.max() * 1.3)
            if wide
            else (both.min() - (pad := 0.05 * (np.ptp(both) or 1.0)), both.max() + pad)
        )
        ends = np.array([low, high])
        if self.band is not None:
            line = np.linspace(low, high, 200)
            band = {"color": "0.9", "linewidth": 0, "label": "± median published ±"}
            ax.fill_between(line, line - self.band, line + self.band, zorder=1, **band)
        ax.plot(ends, ends, color="0.4", linewidth=0.8, zorder=2, label="equal")
        for verdict, style in VERDICT_STYLES.items():
            if (chosen := verdicts == verdict).any():
                look = {"s": 11, "linewidths": 0.6, "label": verdict, "zorder": 3}
                ax.scatter(published[chosen], ours[chosen], **look, **style)
        for axis in (ax.xaxis, ax.yaxis) if wide else ():
            log_scale(axis, both)
        ax.set(xlim=ends, ylim=ends, xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.set_aspect("equal")
        guide_lines(ax, "both")
