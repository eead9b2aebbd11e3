"""Cells without a number, and why."""

from entrolab.report.studies import StudyResults, model_name
from entrolab.tables.number_format import title
from entrolab.tables.types import TABLE_TYPES


def failures(results: StudyResults) -> list[dict]:
    """List the cells without a number, those with one data set and reason together.

    Returns
    -------
    list of dict
        Keys dataset, of (models; the table where it has none), verdict and reason.
    """
    found: dict[tuple, dict] = {}
    for name, table in results.tables.items():
        entry = results.study["tables"][name]
        models = TABLE_TYPES[entry["kind"]].models(entry, results.study)  # not each is one of the study's
        for row in table[table["verdict"].isin(["failed", "no data"])].itertuples(index=False):
            of_reason = found.setdefault((row.dataset, row.verdict, row.reason), {})
            of_reason[row.model or name] = model_name(models[row.model]) if row.model else title(name)
    return [
        {
            "dataset": results.labels.get(dataset, dataset),
            "of": list(of_reason.values()),
            "verdict": kind,
            "reason": reason,
        }
        for (dataset, kind, reason), of_reason in found.items()
    ]
