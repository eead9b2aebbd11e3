"""What the report remembers of studies made at other times, in other folders and by other processes."""

import threading
import time

import pytest
from html_pages import Page
from reported_study import CATALOG

from entrolab.report import renewal
from entrolab.report.memory import changed_settings, recalled, remember


@pytest.fixture
def made(results):
    """Write the page of the study under some name, as its job does."""
    folder = results.folder.parents[1]

    def write(name, settings=()):
        kept = folder / f"{name}.yaml"
        kept.write_text("title: as it was written\n")
        study = {**results.study, "title": f"Study {name}", "file": str(kept)}
        catalog = {key: CATALOG[key] for key in ("iris", "wine")}
        (folder / "results" / name).mkdir(exist_ok=True)
        renewal.renew(folder / "results" / "report", name, study, catalog, dict(settings))
        return folder / "results" / "report"

    return write


def test_a_study_that_has_vanished_keeps_its_row_its_command_and_its_pages(made, results):
    report = made("paper", {"seed": 3})
    first = (report / "paper.html").read_text()
    (results.folder.parents[1] / "paper.yaml").unlink()
    made("other")
    front = Page(report / "index.html")
    assert {"paper.html", "other.html"} <= set(front.links)
    assert "entrolab paper.yaml --config seed=3" in front.said
    assert "1 of 1 published results reproduced" in front.said  # its verdicts count
    assert (report / "paper.html").read_text() == first
    users = Page(report / "datasets" / "iris.html")
    assert "Study paper" in users.said
    assert "Study other" in Page(report / "models" / "sklearn.svm.SVC.html").said


def test_studies_computed_at_the_same_time_are_both_remembered(made, monkeypatch):
    """The slower one writes the front page last, and must not have read the memory before the other."""
    build, begun = renewal.build_report, threading.Event()

    def slow(found, *args, only, **options):
        if only == ["slow"]:
            begun.set()
            time.sleep(0.5)
        return build(found, *args, only=only, **options)

    monkeypatch.setattr(renewal, "build_report", slow)
    slower = threading.Thread(target=made, args=["slow"])
    slower.start()
    assert begun.wait(20)
    report = made("quick")
    slower.join()
    assert set(recalled(report)) == {"slow", "quick"}
    assert {"slow.html", "quick.html"} <= set(Page(report / "index.html").links)


def test_what_is_recalled_is_what_was_remembered(tmp_path):
    study = {"title": "Größen", "models": {"svm": {"grid": {"C": [1, float("inf")]}}}}
    remember(tmp_path, "mine", study, {"iris": CATALOG["iris"]}, {"seed": 1})
    assert recalled(tmp_path) == {"mine": (study, {"iris": CATALOG["iris"]}, {"seed": 1})}
    assert recalled(tmp_path / "empty") == {}


def test_settings_that_differ_from_the_projects_own_are_kept(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("papers: [demo]\nseed: 0\nmirror: null\n")
    (tmp_path / "config" / "config.yaml").open("a").write("extra_studies: null\n")
    config = {"papers": "mine", "seed": 0, "mirror": "data", "extra_studies": ".", "another": 1}
    assert changed_settings(config, tmp_path) == {"mirror": "data"}
