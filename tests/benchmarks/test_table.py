"""The table of races."""

import pandas as pd

from benchmarks.table import COLUMNS, markdown, merge, read


def row(part: str, **cells) -> dict:
    found = dict.fromkeys(COLUMNS, float("nan")) | dict.fromkeys(("unit", "measure", "note"), "")
    found |= {"part": part, "what": "work", "ours": "EEM", "peer": "MLP", "machine": "a machine"}
    return found | {"date": "2026-11-23", "load": 0.1} | cells


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_parts_that_are_measured_anew_are_replaced_and_others_stay(tmp_path):
    path = tmp_path / "table.csv"
    merge(pd.DataFrame([row("ica", ratio=1.0), row("ica", ratio=2.0), row("cec", ratio=3.0)]), path)
    merge(pd.DataFrame([row("ica", ratio=1.23456789)]), path)
    found = read(path)
    assert found[["part", "ratio"]].to_numpy().tolist() == [["cec", 3.0], ["ica", 1.23457]]
    assert (found["note"] == "").all()


def test_page_has_ratios_with_intervals_and_the_machine_once():
    rows = [
        row("ica", unit="s", our_spent=0.5, peer_spent=1.0, ratio=2.0, low=1.5, high=2.5, measure="index"),
        row("ica", unit="s", peer="SVC", note="time limit of 60 s", our_spent=0.5, measure="index"),
    ]
    text = markdown(pd.DataFrame(rows))
    lines = [cells_of(line) for line in text.splitlines() if line.startswith("|")]
    assert lines[0] == ["work", "ours", "s", "peer", "peer s", "peer / ours", "note"]
    assert lines[2] == ["work (index)", "EEM", "0.5", "MLP", "1", "**2** [1.5, 2.5]", ""]
    assert lines[3] == ["", "", "0.5", "SVC", "", "", "time limit of 60 s"]
    assert text.count("a machine") == 1
