"""Write the pages of one study of a report, and the front page from all stored studies."""

from collections.abc import Mapping
from pathlib import Path

from entrolab.report.memory import recalled, remember, sole_writer
from entrolab.report.site import build_report
from entrolab.report.studies import read_results


def renew(
    folder: Path,
    name: str,
    study: Mapping,
    catalog: Mapping,
    settings: Mapping,
    *,
    commit: str = "",
    lock: str = "",
) -> None:
    """Store a study and write its pages, those of its data sets and learners, and the front page.

    `folder` is the report's, next to the folders of the studies' results. For the rest see
    :func:`entrolab.report.memory.remember` and :func:`entrolab.report.site.build_report`.
    """
    with sole_writer(folder):
        remember(folder, name, study, catalog, settings)
        known = recalled(folder)
        results = [
            read_results(
                key, one.study, folder.parent / key, settings=one.settings, with_selection=key == name
            )
            for key, one in known.items()
        ]
        entries = {key: entry for one in known.values() for key, entry in one.catalog.items()}
        build_report(results, folder, catalog=entries | catalog, commit=commit, lock=lock, only=[name])
