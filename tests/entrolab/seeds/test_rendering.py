"""Verdicts over seeds on a table's page."""

import math

import pandas as pd
import pytest
from reported_study import STUDY

from entrolab.schema.sections import ConfigError
from entrolab.seeds.rendering import seeds_of
from entrolab.seeds.values import of_table, read_seeds, values_of, write_seeds
from entrolab.study.seeds import CELL, check_seeds
from entrolab.tables.making import COLUMNS
from entrolab.tables.rendering import render
from entrolab.tables.types import TABLE_TYPES

SPEC = STUDY.spec_of_table("table4")


@pytest.fixture
def table():
    """A published value beside each of ours, of which one is far off."""
    rows = []
    for place, cell in enumerate(TABLE_TYPES["scores"].cells(SPEC)):
        ours, verdict = (60.0, "lower") if place == 1 else (80.0, "reproduced")
        rows.append((*cell, 80.0, 2.0, ours, 1.0, ours - 80, verdict, math.nan, ""))
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.fixture
def study(tmp_path, table):
    """The study with a file of values under five seeds, a tenth of a point apart."""
    tables = [table.assign(ours=table["ours"] + seed / 10) for seed in range(5)]
    write_seeds(values_of("table4", tables), tmp_path / "seeds.csv")
    return STUDY.model_copy(update={"seeds": str(tmp_path / "seeds.csv")})


def test_the_page_shows_the_verdicts_with_their_tolerances(study, table):
    shown = seeds_of(study, "table4", table)
    page = render(table, SPEC, "html", seeds=shown)
    assert "3 reproduced, 1 not reproduced, 0 undecided, of 4 numbers with 5 seeds" in page
    # 60.0 to 60.4: mean 60.2, standard deviation sqrt(0.025), t(0.975, 4) = 2.776, and sqrt(1 + 1 / 5).
    assert "over 5 seeds not reproduced: 60.2 ±0.1581, a new seed 59.72 to 60.68, tolerance ±2" in page
    without = render(table, SPEC, "html")
    assert "over 5 seeds" not in without
    # The other formats and the numbers are the same, with seeds or without.
    for format in ("csv", "tex", "md"):
        assert render(table, SPEC, format, seeds=shown) == render(table, SPEC, format)


def test_a_study_or_a_table_without_values_shows_none(study, table, tmp_path):
    assert seeds_of(STUDY, "table4", table) is None
    assert seeds_of(study.model_copy(update={"seeds": str(tmp_path / "none.csv")}), "table4", table) is None
    values = read_seeds(study.seeds)
    write_seeds(values.assign(table="table5"), study.seeds)
    assert seeds_of(study, "table4", table) is None


def test_values_survive_the_file(study):
    check_seeds(study.seeds)
    values = read_seeds(study.seeds)
    assert [*values] == [*CELL, "0", "1", "2", "3", "4"]
    assert values["4"].tolist() == [80.4, 60.4, 80.4, 80.4]
    write_seeds(values, study.seeds)
    pd.testing.assert_frame_equal(read_seeds(study.seeds), values)
    assert of_table(values, "table4").shape == (4, 8)


def test_cells_that_failed_or_are_not_judged_are_no_values(table):
    one = table.assign(ours=[80.0, math.nan, 80.0, 80.0])
    one.loc[3, "verdict"] = "published only"
    values = values_of("table4", [one, one.assign(ours=[80.5, 61.0, 80.5, 80.5])])
    assert values[["dataset", "model"]].values.tolist() == table[["dataset", "model"]].values.tolist()[:3]
    assert values["0"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("table,dataset\n", "line 1: found 'table,dataset'; accepted: table,dataset,model,metric and the n"),
        ("table,dataset,model,metric\n", "line 1"),
        ("table,dataset,model,metric,0\na,b,c,d\n", "line 2: found 4 fields; accepted: 5"),
        ("table,dataset,model,metric,0\na,b,c,d,x\n", "line 2: found 'x'; accepted: a number"),
    ],
)
def test_a_file_that_the_command_would_not_have_written_is_one_line(tmp_path, text, said):
    (tmp_path / "seeds.csv").write_text(text)
    with pytest.raises(ConfigError) as error:
        check_seeds(tmp_path / "seeds.csv")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
