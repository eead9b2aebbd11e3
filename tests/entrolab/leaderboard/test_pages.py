"""The pages of the leaderboards, from rows alone."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from entrolab.leaderboard.pages import _ticks, write_pages


class Page(HTMLParser):
    """Sections by what filters them, with the rows of their first tables; links, options and open tags."""

    def __init__(self, text: str):
        super().__init__()
        self.sections, self.links, self.options, self.depth = [], [], {}, []
        self.cell = self.select = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in ("meta", "img", "circle", "path"):
            self.depth.append(tag)
        if tag == "section":
            filters = {key[5:]: value for key, value in attrs.items() if key.startswith("data-")}
            self.sections.append((filters, []))
        if tag == "tr" and self.sections:
            self.sections[-1][1].append([])
        if tag in ("td", "th") and self.sections:
            self.cell = (attrs.get("data-value"), [])
        if tag == "select":
            self.select = attrs["name"]
        if tag == "option":
            self.cell = (None, [])
        self.links += [attrs[key] for key in ("href", "src") if key in attrs]

    def handle_data(self, data):
        if self.cell:
            self.cell[1].append(data)

    def handle_endtag(self, tag):
        if tag in self.depth:
            assert self.depth.pop() == tag
        if tag == "option":
            self.options.setdefault(self.select, []).append("".join(self.cell[1]))
        if tag in ("td", "th") and self.sections:
            self.sections[-1][1][-1].append(("".join(self.cell[1]).strip(), self.cell[0]))
        if tag in ("td", "th", "option"):
            self.cell = None


@pytest.fixture(scope="module")
def report(folder, tmp_path_factory) -> Path:
    """The pages of the board in its folder."""
    report = tmp_path_factory.mktemp("report") / "board"
    write_pages(folder, report, n_resamples=20)
    return report


@pytest.fixture(scope="module")
def page(report) -> Page:
    return Page((report / "binary.html").read_text(encoding="utf-8"))


@pytest.fixture
def written(folder, tmp_path) -> Callable[..., str]:
    """A function that writes the page of a board with other rows, and perhaps another header; its text."""

    def write(rows: pd.DataFrame, header: dict | None = None) -> str:
        text = json.dumps(header) if header else (folder / "header.json").read_text(encoding="utf-8")
        (tmp_path / "header.json").write_text(text, encoding="utf-8")
        rows.to_csv(tmp_path / "binary.csv", index=False)
        write_pages(tmp_path, tmp_path / "out/board", n_resamples=1)
        return (tmp_path / "out/board/binary.html").read_text(encoding="utf-8")

    return write


def test_sections_have_all_filters_and_the_selects_offer_exactly_what_there_is(page):
    assert page.depth == []
    for name, offered in page.options.items():
        assert set(offered) == {filters[name] for filters, _ in page.sections}
    of_gmean = [filters["sets"] for filters, _ in page.sections if filters["metric"] == "GMEAN"]
    assert len(of_gmean) == 5
    assert {filters["size"] for filters, _ in page.sections} == {"1,000"}


def test_lines_show_the_means_of_the_rows(page, rows):
    (lines,) = [lines for f, lines in page.sections if (f["metric"], f["sets"]) == ("GMEAN", "all sets")]
    head, first = lines[0], lines[1]
    assert [text for text, _ in head][:3] == ["learner", "mean rank", "Elo"]
    assert first[0][0] == "EEM"
    mean = rows[rows["learner"] == "EEM"].groupby("set")["gmean"].mean().mean()
    assert first[5] == (f"{100 * mean:.1f}", str(mean))
    slow = next(line for line in lines if line[0][0] == "slow")
    filled = rows[rows["learner"] == "slow"].assign(gmean=lambda of: of["gmean"].fillna(0))
    assert float(slow[5][1]) == pytest.approx(filled["gmean"].mean())
    assert slow[-1][0] == "8"


def test_log_loss_is_shown_as_it_is_and_a_subset_has_its_sets_only(page):
    (lines,) = [lines for f, lines in page.sections if f["metric"] == "log loss"]
    shown = [float(line[5][0]) for line in lines[1:4]]
    assert all(0 < value < 0.75 for value in shown)
    (few,) = [f for f, _ in page.sections if f["sets"] == "rarer class under 10 %"]
    assert few["metric"] == "GMEAN"


def test_every_link_and_picture_leads_somewhere(page, report):
    pictures = [link for link in page.links if link.endswith(".svg")]
    assert pictures
    assert all((report / link).read_text().startswith("<svg") for link in pictures)
    assert "binary.html" in Page((report / "index.html").read_text(encoding="utf-8")).links


def test_points_of_the_plot_are_on_it_in_the_order_of_score_and_speed(report):
    text = (report / "binary.html").read_text(encoding="utf-8")
    found = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="4"><title>([^<]+)</title>', text)[:4]
    places = {name: (float(x), float(y)) for x, y, name in found}
    assert set(places) == {"EEM", "XGBoost", "SVM", "slow"}
    assert places["EEM"][1] < places["XGBoost"][1] < places["SVM"][1]  # up is better
    assert all(0 < x < 640 and 0 < y < 320 for x, y in places.values())


def test_a_learner_far_from_the_others_is_at_the_end_of_the_axis_with_its_score(rows, written):
    eem = rows[rows["learner"] == "EEM"]
    others = [eem.assign(learner=f"EEM {i}", fit_s=i + 1, gmean=eem["gmean"] - 0.02 * i) for i in range(1, 5)]
    rows = pd.concat([rows[~rows["learner"].isin(["XGBoost", "SVM"])], *others])
    rows.loc[rows["learner"] == "slow", ["gmean", "reason"]] = 0.001, None
    text = written(rows)
    assert "Outside the axis and at its end: slow (0.1)." in text
    height = float(re.search(r'cy="([\d.]+)" r="4"><title>slow<', text)[1])
    assert 250 < height < 276  # pixels; the axis ends at 276


def test_seconds_that_were_not_measured_and_those_of_failed_runs_are_told_apart(rows, written):
    rows = rows.copy()
    rows.loc[rows["learner"] == "EEM", "predict_s"] = np.nan
    lost = rows["learner"] == "slow"
    rows.loc[lost, ["gmean", "auc", "log_loss", "fit_s", "predict_s"]] = np.nan
    rows.loc[lost, "reason"] = "no threshold"
    page = Page(written(rows))
    lines = {line[0][0]: line for line in page.sections[0][1][1:5]}
    assert lines["EEM"][8] == ("–", "")
    assert lines["slow"][7] == lines["slow"][8] == ("failed", "")
    assert lines["SVM"][8][1].startswith("-")


def test_the_search_of_a_tuned_run_is_counted_once(rows, written):
    tuned = [rows[rows["learner"] != "constant"].assign(variant=one) for one in ("tuned", "tuned threshold")]
    assert f"{len(rows) + len(tuned[0]):,} runs, 16 of them failed" in written(pd.concat([rows, *tuned]))


@pytest.mark.parametrize(("low", "high", "ticks"), [(27, 82, [40, 60, 80]), (-0.01, 0.6, [0, 0.2, 0.4, 0.6])])
def test_ticks_are_round_numbers_within_the_axis(low, high, ticks):
    np.testing.assert_allclose(_ticks(low, high), ticks, atol=1e-12)
    assert _ticks(low, low) == [low]


def test_a_page_names_each_machine_once_with_its_commits(rows, folder, written):
    header = json.loads((folder / "header.json").read_text(encoding="utf-8"))
    header["made"]["def"] = {**header["made"]["abc"], "machine": "a machine, numpy 2, entrolearn 4d5e6f"}
    rows = rows.copy()
    rows.loc[::2, "made"] = "def"
    text = written(rows, header)
    assert text.count("a machine, numpy 2; entrolearn at") == 1
    assert "4d5e6f, 1a2b3c" in text


def test_names_are_escaped_and_a_folder_without_boards_is_refused(rows, written, tmp_path):
    text = written(rows.replace({"learner": {"SVM": "<script>x</script>"}}))
    assert "<script>x" not in text
    assert "&lt;script&gt;x" in text
    with pytest.raises(FileNotFoundError, match="found no board; run"):
        write_pages(tmp_path / "out", tmp_path)


def test_one_learner_on_one_set_has_a_page(rows, written):
    page = Page(written(rows[(rows["set"] == "set0") & rows["learner"].isin(["constant", "EEM"])]))
    assert {f["sets"] for f, _ in page.sections} == {"all sets"}
    assert np.isfinite(float(page.sections[0][1][1][2][1]))
