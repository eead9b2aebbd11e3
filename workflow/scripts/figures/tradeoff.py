"""Two mean test scores along a grid, the first metric across, a panel per data set, a line per model."""

import json

from entrolab.figures.drawing import Line, draw_lines, lines_of
from entrolab.figures.grids import most_common
from entrolab.fit.metrics import METRICS, as_shown, score_name
from entrolearn.plotting import TradeoffDisplay


def draw(files):
    """Draw a figure of candidates; a point with a failed fit has a reason instead of scores."""
    metrics = files.entry.metric_names()

    def line(run):
        points = [fits for _, fits in run.candidates().groupby("point")]
        scores = [
            [
                as_shown(fits[f"test_{metric}"].where(fits["success"]).mean(skipna=False), metric)
                for fits in points
            ]
            for metric in metrics
        ]
        reasons = []
        for fits, x in zip(points, scores[0], strict=True):
            failed = fits.loc[~fits["success"], "error"]
            lacking = f"a learner without {METRICS[metrics[0]].label}" if x != x else ""
            reasons.append(most_common(failed) if len(failed) else lacking)
        params = [json.dumps(json.loads(fits["params"].iloc[0])) for fits in points]
        return Line(scores, reasons, {"params": params, "folds": list(map(len, points))})

    def display(dataset, lines):
        x, y = map(score_name, metrics)
        return TradeoffDisplay(lines, x_name=x, y_name=y)

    layout = {"n_columns": 3, "width": 10.0, "common": False}
    return draw_lines(lines_of(files, line), display, empty=((), ()), **layout)
