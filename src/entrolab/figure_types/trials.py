"""Figures of the score of each trial."""

from entrolab.figure_types.base import LinePerModel, RunsEntry, score_name
from entrolab.fit.metrics import metrics_of
from entrolab.study.sections import described, list_of


class Trials(LinePerModel):
    """The score of each trial, a line per model."""

    class Entry(RunsEntry):
        metric: described(
            str | list_of(str), "a metric, or a list of metrics; each data set uses the first that fits"
        )
        criterion: str

    first_metric = True
    stages = ("selection", "predictions")
    trains = True
    layout = {"n_columns": 2, "width": 10.0, "common": False}

    def spec(self, figure, study):
        names = [figure.metric] if isinstance(figure.metric, str) else figure.metric
        metrics = {
            dataset: metrics_of(study.tasks[dataset], names)[0] for dataset in self.datasets(figure, study)
        }
        return super().spec(figure, study) | {"metrics": metrics}

    def line(self, dataset, model, files, record, spec):
        from entrolab.figure_types.drawing import Line, as_shown, check_success
        from entrolab.fit.predictions import read_scores
        from entrolab.text import one_line

        check_success(record)
        metric = spec.metrics[dataset]
        rows = read_scores(*files, [metric])
        chosen = rows[rows["criterion"] == spec.entry.criterion].sort_values(["repeat", "fold"])
        scores = as_shown(chosen[metric].where(chosen["success"].astype(bool)), metric)
        return Line(scores.to_numpy(), [one_line(error) for error in chosen["error"]])

    def display(self, dataset, lines, spec):
        from entrolearn.plotting import TrialsDisplay

        return TrialsDisplay(lines, score_name=score_name(spec.metrics[dataset]))
