"""Figures of one score against another along the grids of some models."""

from entrolab.figure_types.base import LinePerModel, RunsEntry, score_name
from entrolab.fit.metrics import METRICS
from entrolab.study.sections import described, list_of


class Tradeoff(LinePerModel):
    """Two mean test scores along a grid, a line per model."""

    class Entry(RunsEntry):
        metric: described(
            list_of(str, at_least=2, at_most=2), "a list of two metrics, the horizontal one first"
        )

    stages = ("candidates",)
    trains = True
    layout = {"n_columns": 3, "width": 10.0, "common": False}
    empty = ((), ())

    def line(self, dataset, model, files, record, spec):
        """The points of a grid in order; a point with a failed fit has a reason instead of scores."""
        import json

        from entrolab.figure_types.drawing import Line, as_shown, candidates_of, most_common

        points = [fits for _, fits in candidates_of(files[0], record).groupby("point")]
        scores = [
            [
                as_shown(fits[f"test_{metric}"].where(fits["success"]).mean(skipna=False), metric)
                for fits in points
            ]
            for metric in spec.entry.metric
        ]
        reasons = []
        for fits, x in zip(points, scores[0], strict=True):
            failed = fits.loc[~fits["success"], "error"]
            lacking = f"a learner without {METRICS[spec.entry.metric[0]].label}" if x != x else ""
            reasons.append(most_common(failed) if len(failed) else lacking)
        params = [json.dumps(json.loads(fits["params"].iloc[0])) for fits in points]
        return Line(scores, reasons, {"params": params, "folds": list(map(len, points))})

    def display(self, dataset, lines, spec):
        from entrolearn.plotting import TradeoffDisplay

        x, y = map(score_name, spec.entry.metric)
        return TradeoffDisplay(lines, x_name=x, y_name=y)
