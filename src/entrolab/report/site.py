"""The site: an index and a page per study."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from entrolab.claims.rendering import claims_bar
from entrolab.io.atomic import write_text
from entrolab.io.records import read_json
from entrolab.jobs.command import command_to_track, is_checkout
from entrolab.report.papers import card, paper_page
from entrolab.report.provenance import version
from entrolab.report.shown_tables import laid_out
from entrolab.report.studies import StudyResults
from entrolab.tables.rendering import legend, templates

# Within the report's folder: what the index shows of each study.
CARDS = "cards"


def build_report(
    studies: Iterable[StudyResults], folder: str | Path, *, commit: str = "", lock: str = ""
) -> Path:
    """Write the pages of studies and the index; return the path of the index.

    The index lists every study that has a page in `folder`, whenever it was written. `commit` and `lock` are
    the version of the code, and the sha256 of its lock file; "" shows none.
    """
    folder = Path(folder)
    for results in studies:
        _write(folder / f"{results.key}.html", "paper", paper_page(results, laid_out(results), folder))
        source = Path(results.study.file).read_text(encoding="utf-8")
        write_text(folder / f"{results.key}.yaml", source)
        text = json.dumps(card(results, folder), indent=1) + "\n"
        write_text(folder / CARDS / f"{results.key}.json", text)
    cards = [read_json(file) for file in sorted((folder / CARDS).glob("[a-z]*.json"))]
    working_folder = folder.absolute().parents[1]  # in which commands are typed
    index = {
        "cards": cards,
        "claims": _all_claims(cards),
        "version": version(commit, lock),
        "key": legend({}, {}),
        "is_checkout": is_checkout(working_folder),
        "tracked": command_to_track(working_folder),
    }
    return _write(folder / "index.html", "index", index)


def _all_claims(cards: Sequence[Mapping]) -> dict | None:
    """The outcomes of the claims of all studies; None if there are no claims."""
    counted = Counter()
    for one in cards:
        for part in one["claims"]["segments"] if one["claims"] else ():
            counted[part["verdict"]] += part["count"]
    return claims_bar(counted) if counted else None


def _write(path: Path, template: str, content: Mapping) -> Path:
    text = templates("html").get_template(f"{template}.html.j2").render(**content)
    write_text(path, text)
    return path
