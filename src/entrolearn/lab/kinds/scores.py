"""Tables of scores."""

from collections.abc import Mapping

from entrolearn.lab.kinds.base import NAN, NOTHING, Found, Judged, phrase
from entrolearn.lab.kinds.trained import OfModels, without_result
from entrolearn.lab.verdicts import SLACK, verdict

CRITERIA = {
    "cv": "inner cross-validation on the training folds",
    "dcs_gaussian": "the Cauchy–Schwarz divergence of the projected training classes, taken as Gaussians",
    "dcs_kde": "the Cauchy–Schwarz divergence of the projected training classes, as kernel density estimates",
    "oracle": "the best mean score on the test folds (uses test data: a diagnostic only)",
}

METRICS = {"gmean": "GMEAN", "balanced_accuracy": "balanced accuracy", "accuracy": "accuracy"}


class Scores(OfModels):
    """Mean scores over the test folds, in percent: data sets × models."""

    stages = ("scores", "records")
    meanings = {
        "reproduced": "ours lies within the printed ±",
        "higher": "ours lies above the printed ±",
        "lower": "ours lies below the printed ±",
        "failed": "no score of ours; the footnote says why",
    }
    defaults = {"among": {}}

    def names(self, table, study):
        yield from super().names(table, study)
        yield "metric", table["metric"], study["metrics"], "metric of this study"
        yield "criterion", table["criterion"], study["criteria"], "criterion of this study"
        models = table["models"]
        for model in models:
            criteria = study["models"][model]["criteria"]
            yield "criterion", table["criterion"], criteria, f"criterion of model {model!r}"
        searched = dict.fromkeys(name for model in models for name in study["models"][model]["grid"])
        for name in table["among"]:
            yield "among", name, searched, "parameter in this table's grids"

    def reads(self, table):
        # Choosing from part of a grid starts from its candidates.
        return (*self.stages, "candidates") if table["among"] else self.stages

    def metrics(self, table):
        metric = table["metric"]
        return {metric: {"label": METRICS.get(metric, metric.replace("_", " ")), "sublabel": ""}}

    def found(self, cell, spec, results):
        """Mean and standard deviation (ddof=1) over all repeats × folds, in percent.

        A cell of which one fold has no score is failed: the mean of the other folds is not what is printed.
        """
        dataset, model, metric = cell
        record = results.record(dataset, model)
        if failed := without_result(record):
            return failed
        folds = results.scores(dataset, model, spec["among"])
        chosen = folds.get(spec["criterion"])
        if chosen is None:
            return Found(trouble="failed", reason="no scores by this criterion")
        lost = chosen[~chosen["success"].astype(bool) | chosen[metric].isna()]
        if len(lost):
            errors = [f": {phrase(error)}" for error in lost["error"] if error][:1]
            reason = f"{len(lost)} of {len(chosen)} folds have no score" + "".join(errors)
            return Found(trouble="failed", reason=reason)
        oracle = 100 * folds["oracle"][metric].mean() if "oracle" in folds else NAN
        scores = 100 * chosen[metric]
        return Found(scores.mean(), scores.std(ddof=1), oracle, reason=_notes(record))

    def judge(self, cell, spec, found, printed):
        ours, (value, std) = found[cell].ours, printed.get(cell, NOTHING)
        return Judged(verdict(ours, value, std), ours - value)

    def says(self, spec):
        (metric,) = spec["metrics"].values()
        criterion = CRITERIA.get(spec["criterion"], spec["criterion"])
        return (
            f"{metric['label']} in percent, mean ± standard deviation over the test folds. "
            f"Parameters chosen by {criterion}."
        )

    def digits(self, printed):
        """As many decimals as the printed numbers have: one at least, two at most."""
        return 1 if all(abs(round(value, 1) - value) < SLACK for value in printed) else 2


def _notes(record: Mapping) -> str:
    """Join the record's notes as ``"note in k of n fits; …"``."""
    fits = record.get("n_candidates", 0)
    found = dict(record.get("notes") or {})
    if record.get("n_failed"):
        found["no result"] = record["n_failed"]
    return "; ".join(f"{phrase(note)} in {times} of {fits} fits" for note, times in found.items())
