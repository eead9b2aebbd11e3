"""Tables as text and as cells."""

from datetime import datetime

import numpy as np
import pandas as pd

from benchmarks.report import Section, write

TABLE = pd.DataFrame(
    {"fit s": [1.23456, np.nan], "note": ["", "time limit"]},
    index=pd.MultiIndex.from_tuples([("EEM", 100_000), ("SVC", 100_000)], names=["peer", "N"]),
)


def test_markdown_shows_names_rounded_numbers_and_dashes():
    lines = Section("Peers", TABLE, ["a note"]).markdown().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert cells[0] == ["peer", "N", "fit s", "note"]
    assert cells[2:] == [["EEM", "100,000", "1.23", ""], ["SVC", "100,000", "–", "time limit"]]
    assert (lines[0], lines[-1]) == ("## Peers", "a note")


def test_files_hold_every_cell_unrounded_and_a_section_without_a_table(tmp_path):
    sections = [Section("Peers", TABLE), Section("Memory", notes=["Not finished: time limit of 600 s"])]
    page, cells = write(sections, tmp_path, datetime(2026, 11, 21, 9, 5))
    assert (page.name, cells.name) == ("2026-11-21-0905.md", "2026-11-21-0905.csv")
    text = page.read_text()
    assert "21 November 2026" in text
    assert "Not finished: time limit of 600 s" in text
    assert "numpy" in text
    tidy = pd.read_csv(cells)
    found = tidy.set_index(["section", "row", "column"])["value"]
    assert float(found["Peers", "EEM 100000", "fit s"]) == 1.23456
    assert found["Peers", "SVC 100000", "note"] == "time limit"


def test_columns_may_have_the_names_of_the_tidy_ones():
    table = pd.DataFrame(
        {"value": [1.5], "row": [2.5], "section": ["x"]}, index=pd.Index(["EEM"], name="peer")
    )
    tidy = Section("Entropy", table).tidy()
    assert tidy.columns.tolist() == ["section", "row", "column", "value"]
    assert tidy.to_numpy().tolist() == [
        ["Entropy", "EEM", "value", 1.5],
        ["Entropy", "EEM", "row", 2.5],
        ["Entropy", "EEM", "section", "x"],
    ]
