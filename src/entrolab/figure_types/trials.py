"""Figures of the score of each trial."""

from entrolab.figure_types.base import LinePerModel, OfScores, RunsEntry, score_name
from entrolab.fit.metrics import metrics_of
from entrolab.study.sections import described, list_of


class Trials(LinePerModel, OfScores):
    """The score of each trial, a line per model."""

    class Entry(RunsEntry):
        metric: described(
            str | list_of(str), "a metric, or a list of metrics; each data set uses the first that fits"
        )
        criterion: str

    first_metric = True
    stages = ("selection", "predictions")
    layout = {"n_columns": 2, "width": 10.0, "common": False}

    def line(self, dataset, model, files, record, spec):
        from entrolab.figure_types.drawing import Line, as_shown, check_success
        from entrolab.fit.predictions import read_scores
        from entrolab.text import one_line

        check_success(record)
        metric = self._metric(dataset, spec)
        rows = read_scores(*files, [metric])
        chosen = rows[rows["criterion"] == spec["criterion"]].sort_values(["repeat", "fold"])
        scores = as_shown(chosen[metric].where(chosen["success"].astype(bool)), metric)
        return Line(scores.to_numpy(), [one_line(error) for error in chosen["error"]])

    def display(self, dataset, lines, spec):
        from entrolearn.plotting import TrialsDisplay

        return TrialsDisplay(lines, score_name=score_name(self._metric(dataset, spec)))

    def _metric(self, dataset: str, spec) -> str:
        """The first of the figure's metrics that fits a data set's task."""
        return metrics_of(spec["tasks"][dataset], spec["metrics"])[0]
