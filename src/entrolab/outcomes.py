"""Store the outcomes of the papers' claims and the counts of verdicts: ``python -m entrolab.outcomes``.

Outcomes of claims go to ``docs/claims.csv``, counts of verdicts to ``docs/verdicts.csv``. If a table or
figure is not in the present folder, its row and those of the claims that read it are kept. ``make docs``
shows the counts of these two files.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from entrolab.claims.evaluation import OUTCOMES, evaluate
from entrolab.claims.numbers import Numbers
from entrolab.io.atomic import write_text
from entrolab.io.files import FILES, HOME
from entrolab.results.frames import read_table
from entrolab.seeds.values import read_seeds
from entrolab.seeds.verdicts import VERDICTS, judge_seeds, verdict_counts
from entrolab.study.claims import tested_file, tested_tables, tests_of_repository
from entrolab.study.config import load_configuration, read_yaml
from entrolab.study.study import Study
from entrolab.tables.making import agreement_of, counts, second_reading_of
from entrolab.tables.verdicts import JUDGED

CLAIMS, TABLES = Path("docs/claims.csv"), Path("docs/verdicts.csv")
# The columns of the page for the three numbers of `entrolab.tables.making.Agreement`.
SHARES = ["results reproduced", "data and settings equal", "not comparable"]
# The outcome of a claim whose tables have never been made.
NOT_COMPUTED = "not computed"
# "decided_by": the tables or the tests of this repository that a claim names.
OF_CLAIMS = ["study", "claim", "outcome", "decides", "decided_by"]
# Counts of a table's published values: by verdict, and all others.
COUNTS = [*JUDGED, "not judged"]
# Counts of a table's results over seeds: the number of seeds, of results judged, by verdict, and so on.
OVER_SEEDS = ["seeds", "over seeds", *(f"{name} over seeds" for name in VERDICTS), "flips", "wide"]
# Those that the page shows.
SHOWN_OVER_SEEDS = ["over seeds", *(f"{name} over seeds" for name in VERDICTS), "wide"]
# "second reading of": the table with the same published values, if there is one.
OF_TABLES = ["study", "table", "second reading of", *COUNTS, *OVER_SEEDS]


def updated_claims(study: Study, before: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """The outcomes of a study's claims, with the columns `OF_CLAIMS`.

    `before` has the same columns, and may have more studies: from it come the outcomes of claims that are
    decided by the same tables, of which some are not in `folder`, which contains ``results``.
    """
    kept = before[before["study"] == study.name].set_index(["claim", "decided_by"])
    known = kept[["outcome", "decides"]].T.to_dict("list")
    there = [
        claim
        for claim in study.claims
        if all((folder / tested_file(study, name)).exists() for name in tested_tables([claim]))
    ]
    found = evaluate(there, Numbers(study, folder))
    found = found.drop_duplicates("id").set_index("id")[["outcome", "decides"]].T.to_dict("list")
    rows = []
    for claim in study.claims:
        by = " ".join(tests_of_repository(claim) or tested_tables([claim]))
        outcome = found.get(claim.id) or known.get((claim.id, by)) or (NOT_COMPUTED, "")
        rows.append((study.name, claim.id, *outcome, by))
    return pd.DataFrame(rows, columns=OF_CLAIMS)


def updated_tables(study: Study, before: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """The counts of verdicts of a study's tables with published values, with the columns `OF_TABLES`."""
    known = before[before["study"] == study.name].set_index("table", drop=False).to_dict("index")
    values = read_seeds(study.seeds or "")
    rows = []
    for name in study.tables:
        file = folder / FILES["tables"].format(study=study.name, table=name)
        if file.exists():
            table, row = read_table(file), {"study": study.name, "table": name}
            found = counts(table, published=True)
            row |= {verdict: found.pop(verdict) for verdict in JUDGED} | {"not judged": sum(found.values())}
            rows.append(row | _over_seeds(judge_seeds(table, values, study.spec_of_table(name))[0]))
        elif name in known:
            rows.append(known[name])
    rows = [row | {"second reading of": second_reading_of(study, row["table"])} for row in rows]
    kept = pd.DataFrame([row for row in rows if sum(row[name] for name in COUNTS)], columns=OF_TABLES)
    return kept.astype(dict.fromkeys([*COUNTS, *OVER_SEEDS], int))


def _over_seeds(judged: pd.DataFrame) -> dict[str, int]:
    """The counts of the results that are judged over seeds, with the columns `OVER_SEEDS`."""
    verdicts = verdict_counts(judged).values()
    about = judged["n"].max() if len(judged) else 0, len(judged)
    return dict(
        zip(OVER_SEEDS, (*about, *verdicts, judged["flips"].sum(), judged["wide"].sum()), strict=True)
    )


def page_of(claims: pd.DataFrame, tables: pd.DataFrame) -> str:
    """Markdown tables by study: outcomes of claims, then verdicts and verdicts over seeds.

    Each published value is counted once.
    """
    heads = ["study", "claims", *OUTCOMES, NOT_COMPUTED]
    lines = _head(heads)
    for name, rows in _with_all(claims):
        found = Counter(rows["outcome"])
        lines.append(_line(name, len(rows), *(found[one] for one in heads[2:])))
    lines += ["", *_head(["study", *SHARES, *SHOWN_OVER_SEEDS])]
    for name, rows in _with_all(tables[tables["second reading of"] == ""]):
        lines.append(_line(name, *shares(rows), *rows[SHOWN_OVER_SEEDS].sum()))
    return "\n".join(["\n", *lines, "\n"])


def shares(rows: pd.DataFrame) -> list[str]:
    """The agreement of the published values of some tables, with the columns `SHARES`."""
    found = agreement_of(rows[COUNTS].sum().to_dict())
    results, given = f"{found.reproduced} of {found.results}", f"{found.equal} of {found.given}"
    return [results, given, str(found.not_comparable)]


def _with_all(rows: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    return [*rows.groupby("study", sort=False), *([("all", rows)] if len(rows) else [])]


def _head(heads: Iterable[str]) -> list[str]:
    heads = list(heads)
    return [_line(*heads), _line("---", *["--:"] * (len(heads) - 1))]


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def read_stored(file: Path, columns: list[str]) -> pd.DataFrame:
    """A file of outcomes; a frame without rows where there is none."""
    return pd.read_csv(file, keep_default_na=False) if file.exists() else pd.DataFrame(columns=columns)


def main() -> None:
    root, folder = HOME, Path()
    studies, _ = load_configuration(root, read_yaml(root / "config" / "config.yaml"))
    studies = {name: study for name, study in studies.items() if study.published and study.reference}
    claims, tables = read_stored(root / CLAIMS, OF_CLAIMS), read_stored(root / TABLES, OF_TABLES)
    claims = pd.concat([updated_claims(study, claims, folder) for study in studies.values()])
    tables = pd.concat([updated_tables(study, tables, folder) for study in studies.values()])
    for file, kept in ((CLAIMS, claims), (TABLES, tables)):
        write_text(root / file, kept.to_csv(index=False, lineterminator="\n"))
    print(f"{root / CLAIMS} and {root / TABLES} are up to date")


if __name__ == "__main__":
    main()
