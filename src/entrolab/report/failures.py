"""The missing results of a study, with reasons."""

from entrolab.report.studies import StudyResults
from entrolab.tables.number_format import heading
from entrolab.text import full_label, one_line


def failures(results: StudyResults) -> list[dict]:
    """The missing results: dataset, of (models, or the table), verdict and reason; equal reasons merged."""
    found: dict[tuple, dict] = {}
    for name, table in results.tables.items():
        of_table = heading(name, one_line(results.study.tables[name].caption))
        # They may be other models.
        models = results.study.table_type(name).models(results.study.tables[name], results.study)
        for row in table[table["verdict"].isin(["failed", "no data"])].itertuples(index=False):
            of_reason = found.setdefault((row.dataset, row.verdict, row.reason), {})
            of_reason[row.model or name] = full_label(models[row.model]) if row.model else of_table
    return [
        {
            "dataset": dataset,
            "of": ", ".join(of.values()),
            "verdict": verdict,
            "reason": reason,
        }
        for (dataset, verdict, reason), of in found.items()
    ]
