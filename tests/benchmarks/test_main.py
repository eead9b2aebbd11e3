"""The command line."""

import pytest

from benchmarks import __main__ as command
from benchmarks.peers import PEERS
from benchmarks.report import Section
from entrolab.data.dataset import DataUnavailable
from entrolab.fit.limits import LimitError, Limits


def test_what_cannot_be_had_or_done_is_said_and_the_rest_is_done(monkeypatch, tmp_path, capsys):
    def load(name, **options):
        if name == "gone":
            raise DataUnavailable("gone: no network")
        return name

    def too_slow(limits):
        raise LimitError("time limit", "time limit of 600 s")

    monkeypatch.setattr(command, "load", load)
    monkeypatch.setattr(command, "compare", lambda name, *rest: Section(f"Peers on {name}"))
    monkeypatch.setattr(command, "PARTS", {"rate": ("Share", too_slow)})
    arguments = ["--sets", "gone", "here", "--parts", "peers", "rate", "--output", str(tmp_path)]
    page, _ = command.main(arguments)
    for text in (page.read_text(), capsys.readouterr().out):
        assert "Left out: gone: no network" in text
        assert "## Peers on here" in text
        assert "Not finished: time limit of 600 s" in text


def test_a_run_that_is_interrupted_keeps_what_it_has(monkeypatch, tmp_path):
    def interrupted(limits):
        raise KeyboardInterrupt

    done = {"rate": ("Share", lambda limits: Section("Share")), "grid": ("Grid", interrupted)}
    monkeypatch.setattr(command, "PARTS", done)
    with pytest.raises(KeyboardInterrupt):
        command.main(["--parts", "rate", "grid", "--output", str(tmp_path)])
    (page,) = tmp_path.glob("*.md")
    assert "## Share" in page.read_text()


def test_parts_on_data_are_given_the_mirror_and_the_limits_asked_for(monkeypatch, tmp_path):
    asked = []

    def work(limits, mirror):
        asked.append((limits, mirror))
        return Section("On data")

    monkeypatch.setattr(command, "PARTS_ON_DATA", {"search": ("On data", work)})
    options = ["--limit-seconds", "5", "--limit-gib", "2", "--mirror", "there", "--output", str(tmp_path)]
    command.main(["--parts", "search", *options])
    assert asked == [(Limits(5, 2), "there")]


def test_unknown_part_is_refused_with_the_accepted_ones(capsys):
    with pytest.raises(SystemExit):
        command.main(["--parts", "peer"])
    assert "'peers'" in capsys.readouterr().err


def test_the_names_of_peers_differ():
    names = [peer.name for peer in PEERS]
    assert len(set(names)) == len(names)
