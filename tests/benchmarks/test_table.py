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


def test_page_has_the_range_over_the_tasks_of_a_peer_and_the_machine_once():
    rows = [
        row("ica", ratio=2.0, measure="index", unit="s", our_mib=4, peer_mib=8, our_result=3, peer_result=1),
        row("ica", ratio=0.5, measure="index", unit="s", our_mib=0, peer_mib=8, our_result=3, peer_result=3),
        row("ica", measure="index", unit="s", note="time limit of 60 s"),
        row("ica", peer="", measure="index", unit="s"),
    ]
    text = markdown(pd.DataFrame(rows))
    lines = [cells_of(line) for line in text.splitlines() if line.startswith("|")]
    assert lines[0] == ["part", "ours", "peer", "tasks", "peer / ours", "MiB", "result - peer's", "of"]
    # Ratios 2 and 0.5; memory 8 / 4, and one quotient by zero; results 3 - 1 and 3 - 3.
    assert lines[2:] == [["ica", "EEM", "MLP", "2 of 3", "**0.5 to 2**", "2", "0 to 2", "index"]]
    assert text.count("a machine") == 1
