"""The site: a front page, a page per study, data set and learner, and lists of data sets and learners."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from entrolab.claims.rendering import claims_bar, outcomes
from entrolab.io.atomic import write_text
from entrolab.jobs.command import command_to_track, is_checkout
from entrolab.report.datasets import dataset_line, dataset_page
from entrolab.report.models import learners, model_page, standing
from entrolab.report.papers import card, paper_page
from entrolab.report.provenance import made, version
from entrolab.report.shown_tables import laid_out
from entrolab.report.studies import StudyResults
from entrolab.study.lookup import grouped
from entrolab.tables.rendering import legend, templates
from entrolab.text import one_line


def build_report(
    studies: Iterable[StudyResults],
    folder: str | Path,
    *,
    catalog: Mapping[str, Mapping],
    commit: str = "",
    lock: str = "",
    only: Sequence[str] | None = None,
) -> Path:
    """Write the pages of studies, data sets and learners, and the lists of them; return the front page.

    `studies` are all studies with results, in the order of the front page; `only` names those whose pages are
    written, with the pages of their data sets and learners, by default all. The front page and the lists are
    always written. `commit` and `lock` are the version of the code, and the sha256 of its lock file; "" shows
    none.
    """
    site, studies = _Site(Path(folder)), list(studies)
    cards = {results.key: card(results, site.folder) for results in studies}
    # Papers come first, on every page.
    studies.sort(key=lambda results: not cards[results.key]["is_paper"])
    mine = [results for results in studies if only is None or results.key in only]
    tables = {results.key: laid_out(results) for results in _beside(mine, studies)}
    for results in mine:
        content = paper_page(results, tables[results.key], site.folder)
        site.write(f"{results.key}.html", "paper", **content)
        source = Path(results.study["file"]).read_text(encoding="utf-8")
        write_text(site.folder / f"{results.key}.yaml", source)
    _write_datasets(site, catalog, studies, mine, tables)
    _write_models(site, studies, mine)
    records = chain.from_iterable(results.records for results in studies)
    return site.write(
        "index.html",
        "index",
        cards=[cards[results.key] for results in studies],
        claims=_all_claims(studies),
        version=version(commit, lock),
        facts=made(records, commit, lock),
        key=legend({}, {}),
        is_checkout=is_checkout(site.working_folder),
        tracked=command_to_track(site.working_folder),
    )


def _all_claims(studies: Iterable[StudyResults]) -> dict | None:
    """The outcomes of the claims of all studies; None if there are no claims."""
    counted = Counter()
    for results in studies:
        counted.update({} if results.claims is None else outcomes(results.claims))
    return claims_bar(counted) if counted else None


class _Site:
    """The folder of the pages, written from their templates."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.working_folder = folder.absolute().parents[1]  # in which commands are typed
        self.environment = templates("html")

    def write(self, name: str, template: str, /, **content: object) -> Path:
        root = "../" * name.count("/")
        text = self.environment.get_template(f"{template}.html.j2").render(root=root, **content)
        write_text(self.folder / name, text)
        return self.folder / name


def _beside(mine: Iterable[StudyResults], studies: Sequence[StudyResults]) -> list[StudyResults]:
    """The studies that share a data set with one of `mine`, including these."""
    keys = set(chain.from_iterable(grouped(results.study) for results in mine))
    own = {results.key for results in mine}
    return [one for one in studies if one.key in own or not keys.isdisjoint(grouped(one.study))]


def _write_datasets(
    site: _Site,
    catalog: Mapping,
    studies: Sequence[StudyResults],
    mine: Sequence[StudyResults],
    tables: Mapping[str, Sequence[Mapping]],
) -> None:
    users: dict[str, list[dict]] = {}
    for results in studies:
        for key in grouped(results.study):
            users.setdefault(key, []).append({"key": results.key, "title": one_line(results.study["title"])})
    renewed = {key: results for results in reversed(mine) for key in grouped(results.study)}
    for key, results in renewed.items():
        shown = [{**study, "tables": tables[study["key"]]} for study in users[key]]
        content = dataset_page(key, catalog[key], shown)
        command = results.command(f"results/data/{key}.npz")
        site.write(f"datasets/{key}.html", "dataset", command=command, **content)
    lines = [dataset_line(key, catalog[key], users[key]) for key in sorted(users)]
    site.write("datasets/index.html", "datasets", lines=lines)


def _write_models(site: _Site, studies: Sequence[StudyResults], mine: Sequence[StudyResults]) -> None:
    renewed = set(chain.from_iterable(learners(results.study) for results in mine))
    every = dict.fromkeys(chain.from_iterable(learners(results.study) for results in studies))
    standings = {results.key: standing(results) for results in studies}
    pages = [model_page(path, studies, standings) for path in every]
    for page in pages:
        if page["path"] in renewed:
            site.write(f"models/{page['path']}.html", "model", **page)
    # Learners of this project first.
    pages.sort(key=lambda page: (page["package"] != "entrolearn", page["path"]))
    site.write("models/index.html", "models", pages=pages)
