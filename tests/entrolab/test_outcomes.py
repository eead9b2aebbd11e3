"""What became of claims and numbers, as it is kept: counted, left alone, and shown in README.md."""

import itertools
import math
from collections import Counter
from pathlib import Path

import pandas as pd
from made_studies import made_study
from reported_study import CONTENT, STUDY

from entrolab.outcomes import (
    CLAIMS,
    COUNTS,
    NOT_COMPUTED,
    OF_CLAIMS,
    OF_TABLES,
    TABLES,
    page_of,
    read_stored,
    shares,
    updated_claims,
    updated_tables,
)
from entrolab.seeds.values import values_of, write_seeds
from entrolab.study.claims import Claim
from entrolab.study.config import read_yaml
from entrolab.study.study import Study
from entrolab.tables.making import COLUMNS, counts, first_readings
from entrolab.tables.types import TABLE_TYPES

ROOT = Path(__file__).parents[2]
NO_TABLES, NO_CLAIMS = pd.DataFrame(columns=OF_TABLES), pd.DataFrame(columns=OF_CLAIMS)
PUBLISHED = {("iris", "eem_rbf"): 90.0, ("iris", "svm_rbf"): 95.0, ("wine", "eem_rbf"): 80.0}
OURS = {("iris", "eem_rbf"): 90.0, ("iris", "svm_rbf"): 95.0, ("wine", "eem_rbf"): 70.0}


def written_table(folder: Path) -> pd.DataFrame:
    """A table of four cells: two reproduced, one lower, one without a published value."""
    rows = []
    for cell in TABLE_TYPES["scores"].cells(STUDY.spec_of_table("table4")):
        value, ours = PUBLISHED.get(cell[:2], math.nan), OURS.get(cell[:2], 70.0)
        verdict = "ours only" if math.isnan(value) else "reproduced" if ours == value else "lower"
        rows.append((*cell, value, 2.0, ours, 1.0, ours - value, verdict, math.nan, ""))
    table = pd.DataFrame(rows, columns=COLUMNS)
    file = folder / "results/paper/tables/table4.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(file, index=False)
    return table


def test_tables_that_are_there_are_counted_and_the_others_stay(tmp_path):
    assert updated_tables(STUDY, NO_TABLES, tmp_path).empty
    table = written_table(tmp_path)
    kept = updated_tables(STUDY, NO_TABLES, tmp_path)
    assert kept[["reproduced", "higher", "lower", "seeds"]].values.tolist() == [[2, 0, 1, 0]]
    study = STUDY.model_copy(update={"seeds": str(tmp_path / "seeds.csv")})
    tables = [table.assign(ours=table["ours"] + 0.1 * seed) for seed in range(3)]
    write_seeds(values_of("table4", tables), study.seeds)
    kept = updated_tables(study, NO_TABLES, tmp_path)
    over = [f"{verdict} over seeds" for verdict in ("reproduced", "not reproduced", "undecided")]
    assert kept[["seeds", "over seeds", *over]].values.tolist() == [[3, 3, 2, 1, 0]]
    (tmp_path / "results/paper/tables/table4.csv").unlink()
    pd.testing.assert_frame_equal(updated_tables(study, kept, tmp_path), kept)


def test_a_published_value_is_counted_once(tmp_path):
    """A second reading of a table has the same published values; times beside scores have others."""
    table = written_table(tmp_path)
    entry = CONTENT["tables"]["table4"]
    more = {"again": entry, "seconds": {"type": "times", "datasets": "real"}}
    tables = {"table4": entry, **{name: {**one, "published": "table4"} for name, one in more.items()}}
    study = made_study(CONTENT | {"tables": tables})
    first = first_readings(study, {"table4": table, "again": table, "seconds": table[:1]})
    found = counts(*first, published=True)
    assert {name: number for name, number in found.items() if number} == {"reproduced": 3, "lower": 1}
    assert found == {name: sum(counts(one, published=True)[name] for one in first) for name in found}
    assert sum(counts(*first).values()) == sum(len(one) for one in first)
    table.to_csv(tmp_path / "results/paper/tables/again.csv", index=False)
    kept = updated_tables(study, NO_TABLES, tmp_path)
    assert kept["second reading of"].tolist() == ["", "table4"]
    page = page_of(NO_CLAIMS, kept)
    for name in ("paper", "all"):
        assert f"| {name} | 2 of 3 | 0 of 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in page


def test_claims_without_their_tables_stay_as_they_were(tmp_path):
    test = {"type": "bound", "tables": ["table4"], "metric": "gmean", "at_least": 60}
    about = {"claim": "It learns.", "place": "section 1", "strength": "result"}
    claims = [{**about, "id": "learns", "tests": [test]}, {**about, "id": "why", "untested": "a proof"}]

    def of(*claims: dict, **more) -> Study:
        study = made_study(CONTENT | {"tables": CONTENT["tables"] | more})
        return study.model_copy(update={"claims": [Claim.model_validate(claim) for claim in claims]})

    kept = updated_claims(of(*claims), NO_CLAIMS, tmp_path)
    assert kept["outcome"].tolist() == [NOT_COMPUTED, "not tested"]
    kept.loc[0, "outcome"] = "holds"
    again = updated_claims(of(*claims), kept, tmp_path)
    assert again["outcome"].tolist() == ["holds", "not tested"]
    page = page_of(again, NO_TABLES)
    # Another table decides now, or a test of the repository.
    other = {**claims[0], "tests": [{**test, "tables": ["table4_gamma"]}]}
    changed = updated_claims(of(other, table4_gamma=CONTENT["tables"]["table4"]), kept, tmp_path)
    assert changed["outcome"].tolist() == [NOT_COMPUTED]
    node = "tests/test_it.py::test_it"
    proved = {**about, "id": "why", "tested_by": [node]}
    changed = updated_claims(of(proved), kept, tmp_path)
    assert changed.values.tolist() == [["paper", "why", "holds", "", node]]
    assert "| paper | 2 | 1 | 0 | 0 | 1 | 0 |" in page
    assert "| all | 2 | 1 | 0 | 0 | 1 | 0 |" in page


def test_the_readme_has_the_counts_of_the_files():
    tables = read_stored(ROOT / TABLES, OF_TABLES)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    tables = tables[tables["second reading of"] == ""]
    assert {*tables["seeds"]} == {0, 5}, "README says five seeds"
    over = ("over seeds", "reproduced over seeds", "not reproduced over seeds", "undecided over seeds")
    over += ("wide",)
    judged, inside, outside, undecided, wide = tables[[*over]].sum()
    said = f"{inside} of {judged} results are reproduced, {outside} not, {undecided} undecided"
    assert f"Over five seeds, {said}; for {wide}, the ± is too wide to fail." in readme
    for name, rows in tables.groupby("study"):
        results, *_ = shares(rows)
        published = pd.read_csv(ROOT / f"config/published/{name}.csv")["value"].notna()
        assert rows[COUNTS].to_numpy().sum() == published.sum(), "each published value is counted once"
        assert f"| {results} |" in readme


def test_the_readme_counts_the_claims_of_the_files():
    listed = [one for file in ROOT.glob("config/claims/*.yaml") for one in read_yaml(file)["claims"]]
    stored = read_stored(ROOT / CLAIMS, OF_CLAIMS)
    assert {*stored["claim"]} == {one["id"] for one in listed}
    keys = Counter(itertools.chain.from_iterable(listed))
    outcomes = Counter(stored["outcome"])
    assert outcomes["not tested"] == keys["untested"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    of_tests = keys["tested_by"] + keys["refuted_by"]
    said = f"Of {len(listed)} published claims, {len(listed) - keys['untested']} are tested ({of_tests} on "
    said += (
        f"examples): {outcomes['holds']} hold, {outcomes['fails']} fail, {outcomes['undecided']} undecided"
    )
    said += f", {outcomes[NOT_COMPUTED]} not computed" if outcomes[NOT_COMPUTED] else ""
    assert said in readme
