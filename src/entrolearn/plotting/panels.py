"""Small multiples: several displays in one figure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from entrolearn.plotting.style import Figure, legend_above, say


def plot_panels(
    panels: Mapping[str, Any],
    *,
    n_columns: int = 5,
    width: float = 7.2,
    height: float = 0.9,
    common: bool = True,
) -> Figure:
    """A figure of small multiples: one display per panel, with its title.

    Parameters
    ----------
    panels : mapping of str to display, or str
        A text is shown instead of a missing display and should state the reason.
    n_columns : int, default=5
    width : float, default=7.2
        Width of the figure in inches.
    height : float, default=0.9
        Height of a panel relative to its width.
    common : bool, default=True
        Whether the panels share their axes; otherwise each panel has its own axes and axis labels.

    Returns
    -------
    matplotlib Figure
    """
    if not panels:
        raise ValueError("there is no panel to draw; accepted: one or more")
    n_columns = min(n_columns, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)
    side = width / max(n_columns, 3)
    around = 0.6  # inches for the axis labels and the legend
    figure = Figure(figsize=(side * n_columns, height * side * n_rows + around), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, sharex=common, sharey=common, squeeze=False).ravel()
    for ax, (title, panel) in zip(axes, panels.items(), strict=False):
        ax.set_title(title)
        if isinstance(panel, str):
            say(ax, panel)
            if not common:
                ax.set_axis_off()  # axes without data need no scale
        else:
            panel.plot(ax)
            if common:
                panel.ax_.set(xlabel="", ylabel="")
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    # Panels above a gap in the last row need their own tick labels.
    for ax in axes[max(0, len(panels) - n_columns) : len(panels)]:
        ax.tick_params(labelbottom=True)
    drawn = [panel for panel in panels.values() if not isinstance(panel, str)]
    if not drawn:
        for ax in axes:
            ax.set_axis_off()
    else:
        _name_all(figure, drawn, common)
    return figure


def panels_text(panels: Mapping[str, Any]) -> str:
    """Alternative text of small multiples: the common subject, then the summary of each panel.

    Parameters
    ----------
    panels : mapping of str to display, or str
        As for :func:`plot_panels`. Texts of missing displays are included.

    Returns
    -------
    str

    Examples
    --------
    >>> from entrolearn.plotting import TimingDisplay, panels_text
    >>> display = TimingDisplay({"ridge": ([1, 2], [3, 4])}, param_name="rows")
    >>> panels_text({"one": display, "two": "no data"})
    'Seconds against rows. one: ridge from 3 at 1 to 4 at 2.'
    """
    drawn = {title: panel for title, panel in panels.items() if not isinstance(panel, str)}
    if not drawn:
        return "; ".join(dict.fromkeys(panels.values()))
    subject = next(iter(drawn.values())).subject
    said = [f"{title}: {panel.summary()}" if title else panel.summary() for title, panel in drawn.items()]
    return f"{subject}. {'. '.join(said)}."


def _name_all(figure: Figure, displays: Sequence, common: bool) -> None:
    """Label the common axes, and add a common legend unless it has a single entry."""
    if common:
        display = displays[0]
        size = display.ax_.xaxis.label.get_size()
        figure.supxlabel(display.axis_names[0], fontsize=size)
        figure.supylabel(display.axis_names[1], fontsize=size)
    axes = [display.ax_ for display in displays]
    if len({label for ax in axes for label in ax.get_legend_handles_labels()[1]}) > 1:
        legend_above(figure, *axes)
