"""The command line."""

import pytest

from benchmarks import __main__ as command
from benchmarks.measure import Spent
from benchmarks.peers import PEERS
from benchmarks.races import Race
from benchmarks.report import Section
from benchmarks.table import read
from entrolab.io.limits import LimitError, Limits


def test_table_is_filled_part_by_part_and_work_that_fails_is_said(monkeypatch, tmp_path, capsys):
    def too_slow(limits):
        raise LimitError("time limit", "time limit of 600 s")

    race = Race(
        "fit", {"EEM": lambda number: Spent(1.0, 0.0, 5.0), "SVC": lambda number: Spent(2.0, 0.0, 5.0)}
    )
    monkeypatch.setattr(command, "RACES", {"rate": lambda: [race]})
    monkeypatch.setattr(command, "PARTS", {"enough": ("Enough", too_slow)})
    table = tmp_path / "table.csv"
    options = ["--rounds", "2", "--table", str(table), "--output", str(tmp_path)]
    written = command.main(["--parts", "rate", "enough", *options])
    assert written[0] == table
    (row,) = read(table).to_dict("records")
    assert (row["part"], row["what"], row["ours"], row["peer"]) == ("rate", "fit", "EEM", "SVC")
    assert (row["ratio"], row["rounds"], row["our_result"]) == (2, 2, 5)
    assert "numpy" in row["machine"]
    for text in (written[1].read_text(), capsys.readouterr().out):
        assert "Not finished: time limit of 600 s" in text


def test_a_run_that_is_interrupted_keeps_what_it_has(monkeypatch, tmp_path):
    def interrupted(limits):
        raise KeyboardInterrupt

    done = {"streams": ("Rows", lambda limits: Section("Rows")), "enough": ("Enough", interrupted)}
    monkeypatch.setattr(command, "PARTS", done)
    with pytest.raises(KeyboardInterrupt):
        command.main(["--parts", "streams", "enough", "--output", str(tmp_path)])
    (page,) = tmp_path.glob("*.md")
    assert "## Rows" in page.read_text()


def test_streams_are_given_the_mirror_and_the_limits_asked_for(monkeypatch, tmp_path):
    asked = []

    def work(limits, mirror):
        asked.append((limits, mirror))
        return Section("On data")

    monkeypatch.setattr(command.drift, "drift", work)
    options = ["--limit-seconds", "5", "--limit-gib", "2", "--mirror", "there", "--output", str(tmp_path)]
    command.main(["--parts", "drift", *options])
    assert asked == [(Limits(5, 2), "there")]


def test_unknown_part_is_refused_with_the_accepted_ones(capsys):
    with pytest.raises(SystemExit):
        command.main(["--parts", "peer"])
    assert "'peers'" in capsys.readouterr().err


def test_the_names_of_peers_differ():
    names = [peer.name for peer in PEERS]
    assert len(set(names)) == len(names)
