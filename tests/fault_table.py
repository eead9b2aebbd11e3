"""The table of faults that `make faults` prints, as a plugin of pytest's.

A test marked ``fault(kind, name, outcome)`` makes a fault happen and passes if the outcome is what the marker
says. All tests of one kind and name are one line of the table. Those that look whether finished work was lost
note it by ``record_property("lost", number)``.
"""

import os
import platform
from datetime import date
from pathlib import Path

import pandas as pd
import pytest

BAD_INPUT = ("Configuration", "Arrays")


def pytest_addoption(parser):
    parser.addoption("--fault-table", metavar="FILE", help="print the table of faults, and write it to FILE")


def pytest_collection_modifyitems(items):
    # Properties reach the summary from the processes of pytest-xdist; markers do not.
    for item in items:
        for marker in item.iter_markers("fault"):
            item.user_properties.append(("fault", marker.args))
            break


def pytest_terminal_summary(terminalreporter, config):
    reports = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport)  # not an item that was deselected
        and any(name == "fault" for name, _ in getattr(report, "user_properties", ()))
    ]
    if not reports:
        return
    tried = pd.DataFrame(map(_tried, reports)).drop_duplicates()
    bad = tried.loc[tried["kind"].isin(BAD_INPUT), "test"].nunique()
    terminalreporter.write_line(f"{bad} bad inputs tried")
    file = config.getoption("--fault-table")
    if file:
        text = _fault_table(tried, bad)
        terminalreporter.write_line(text)
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text + "\n", encoding="utf-8")


def _tried(report) -> dict:
    """One phase of one test of a fault."""
    properties = dict(report.user_properties)
    kind, name, outcome = properties["fault"]
    told = {"passed": outcome, "failed": "**FAILED**"}.get(report.outcome, "not tried here")
    return {
        "kind": kind,
        "fault": name,
        "test": report.nodeid,
        "outcome": told,
        "survived": report.outcome == "passed",
        "lost": properties.get("lost"),
        "when": report.when,
        "seconds": report.duration,
    }


def _fault_table(tried: pd.DataFrame, bad: int) -> str:
    """The faults in Markdown, a line each."""
    # A phase that did not pass says more than one that did.
    tried = tried.sort_values(["kind", "fault", "survived"], kind="stable")
    lines = tried.groupby(["kind", "fault"], sort=False).agg(
        tests=("test", "nunique"),
        outcome=("outcome", "first"),
        survived=("survived", "all"),
        lost=("lost", "max"),
        seconds=("seconds", "sum"),
    )
    survived, lost = lines.pop("survived"), lines["lost"].sum()
    lines["lost"] = lines["lost"].map("{:.0f}".format).replace("nan", "")
    lines["seconds"] = lines["seconds"].map("{:.1f}".format)
    return "\n\n".join(
        [
            f"{date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python "
            f"{platform.python_version()}, by `make faults`: {survived.sum()} of {len(lines)} faults "
            f"survived, {lost:.0f} finished files lost, {bad} bad inputs tried.",
            lines.reset_index().to_markdown(index=False, disable_numparse=True),
            "`lost`: files that had been finished before the fault and had to be made again, or differ "
            "afterwards; empty where nothing finished was at stake. `seconds`: of all tests of the line.",
        ]
    )
