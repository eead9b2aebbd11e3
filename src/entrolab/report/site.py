"""The site: an index and a page per study."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from entrolab.claims.rendering import in_words
from entrolab.io.atomic import write_text
from entrolab.io.commands import command_to_track
from entrolab.io.records import read_json
from entrolab.report.papers import card, paper_page
from entrolab.report.provenance import version
from entrolab.report.shown_tables import laid_out
from entrolab.report.studies import StudyResults
from entrolab.tables.rendering import legend, templates
from entrolab.text import plural

# Within the report's folder: what the index shows of each study.
CARDS = "cards"
FORMAT = 3  # of cards; a change of their contents changes it
LEAD = (
    "entrolearn is a library of information-theoretic learners with scikit-learn's interface, and a workflow "
    "that regenerates the tables of the papers that introduced them. Each cell shows our number and the "
    "published value, with a verdict: {} of {}."
)


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
        text = json.dumps({"format": FORMAT, **card(results, folder)}, indent=1) + "\n"
        write_text(folder / CARDS / f"{results.key}.json", text)
    cards = [read_json(file) for file in sorted((folder / CARDS).glob("[a-z]*.json"))]
    # Those that another version of this program wrote, with other contents, come back with their pages.
    cards = [one for one in cards if one.get("format") == FORMAT]
    content = {
        **front(cards),
        "version": " · ".join(f"{what} {text}" for what, text in version(commit, lock)),
        "tracked": command_to_track(folder.absolute().parents[1]),  # where commands are typed
    }
    return _write(folder / "index.html", "index", content)


def front(cards: Sequence[Mapping]) -> dict:
    """The content of the index, given the cards of studies."""
    papers = [one for one in cards if one["is_paper"]]
    others = [one for one in cards if not one["is_paper"]]
    reproduced, results = (sum(one["agreed"][name] for one in papers) for name in ("reproduced", "results"))
    heading, lead = "Studies made in this folder", []
    if papers:
        heading = f"{reproduced:,} of {results:,} published results reproduced"
        n_tables = sum(one["n_tables"] for one in papers)
        lead = [LEAD.format(plural(n_tables, "table"), plural(len(papers), "paper"))]
    if claims := sum((Counter(one["outcomes"]) for one in cards), Counter()):
        lead.append(f"Claims: {in_words(claims)}.")
    key = [one for one in legend({}, {}) if one["of_published"]]
    sections = [{"id": "papers", "heading": "Papers", "key": key, "studies": papers}] if papers else []
    if others or not papers:
        place, name = ("others", "Other studies") if papers else ("papers", "Studies")
        sections.append({"id": place, "heading": name, "key": None, "studies": others})
    return {
        "heading": heading,
        "lead": lead,
        "answered": [one for one in cards if one["answer"]],
        "sections": sections,
    }


def _write(path: Path, template: str, content: Mapping) -> Path:
    text = templates("html").get_template(f"{template}.html.j2").render(**content)
    write_text(path, text)
    return path
