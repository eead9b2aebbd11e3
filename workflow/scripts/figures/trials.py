"""The score of each trial of the selected models, a panel per data set, a line per model."""

from entrolab.figures.drawing import Line, draw_lines, lines_of
from entrolab.fit.metrics import as_shown, metrics_of, score_name
from entrolab.fit.predictions import score_selection
from entrolab.text import one_line
from entrolearn.plotting import TrialsDisplay


def draw(files):
    """Draw a figure of predictions; a data set has the first metric that fits it."""
    metrics = {}

    def line(run):
        run.check_success()
        metric, *_ = metrics_of(run.data().task, files.entry.metric_names())
        metrics[run.dataset] = metric
        rows = score_selection(run.frame("selection"), run.frame("predictions"), [metric])
        selected = rows[rows["criterion"] == files.entry.criterion].sort_values(["repeat", "fold"])
        scores = as_shown(selected[metric].where(selected["success"].astype(bool)), metric)
        return Line(scores.to_numpy(), [one_line(error) for error in selected["error"]])

    def display(dataset, lines):
        return TrialsDisplay(lines, score_name=score_name(metrics[dataset]))

    return draw_lines(lines_of(files, line), display, n_columns=2, width=10.0, common=False)
