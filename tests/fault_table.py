"""The table of faults that `make faults` prints, as a plugin of pytest's.

A test marked ``fault(kind, name, outcome)`` makes a fault happen and passes if the outcome is what the marker
says. All tests of one kind and name are one line of the table. Those that look whether finished work was lost
note it by ``record_property("lost", number)``, and those that try many cases by ``"cases"``.
"""

import os
import platform
from datetime import date
from pathlib import Path

import pytest

# The kinds in the order of the table, and what each is about.
KINDS = {
    "Killed": "processes that end in the middle of their work, and clocks that jump",
    "Disk": "disks without room, read-only folders, results damaged by hand",
    "Network": "servers that misbehave, files that were made to do harm, and no network at all",
    "Store": "the tracking store locked, damaged, moved, gone, or asked by many at once",
    "Surroundings": "two runs in one folder, other users, odd paths, locales and settings of the system",
    "Configuration": "mistakes in studies, catalogs, published values and commands",
    "Arrays": "what learners cannot learn from, and settings that cannot be",
    "Representations": "the same numbers in every form that an array can have",
    "Laws": "what must hold of each learner whatever the data are",
    "Memory": "matrices that do not fit",
    "Trust": "models, data and pages that would run code; telemetry; what is not pinned",
    "Determinism": "the same tables from other numbers of cores and threads, and another order of jobs",
}
BAD_INPUT = ("Configuration", "Arrays")


def pytest_addoption(parser):
    parser.addoption("--fault-table", metavar="FILE", help="print the table of faults, and write it to FILE")


def pytest_collection_modifyitems(items):
    # Properties reach the summary from the processes of pytest-xdist; markers do not.
    for item in items:
        if marker := item.get_closest_marker("fault"):
            kind, _, _ = marker.args
            if kind not in KINDS:
                raise pytest.UsageError(f"{item.nodeid}: unknown kind {kind!r}; accepted: {', '.join(KINDS)}")
            item.user_properties.append(("fault", marker.args))


def pytest_terminal_summary(terminalreporter, config):
    file = config.getoption("--fault-table")
    reports = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport)  # not an item that was deselected
        and any(name == "fault" for name, _ in getattr(report, "user_properties", ()))
    ]
    if not file or not reports:
        return
    import pandas as pd  # here: tests of the learners alone do without

    tried = pd.DataFrame(map(_tried, reports)).drop_duplicates()
    text = _fault_table(tried, _cases(tried[tried["kind"].isin(BAD_INPUT)]))
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
        "cases": properties.get("cases", 1),
        "when": report.when,
        "seconds": report.duration,
    }


def _of(kinds, *names: str) -> int:
    """How many faults are of some kinds."""
    return int(kinds["faults"].reindex(names).sum())


def _cases(tried) -> int:
    """How many cases some tests try, each of them once."""
    return int(tried.groupby("test")["cases"].max().sum())


def _fault_table(tried, bad: int) -> str:
    """A table of the kinds in Markdown; then the faults of each kind by outcome."""
    # A phase that did not pass says more than one that did.
    lines = tried.sort_values("survived", kind="stable").groupby(["kind", "fault"], sort=False)
    faults = lines.agg(
        outcome=("outcome", "first"),
        survived=("survived", "all"),
        lost=("lost", "max"),
        seconds=("seconds", "sum"),
    )
    faults.insert(2, "tests", lines[["test", "cases"]].apply(_cases))
    kinds = faults.groupby("kind").agg(
        faults=("tests", "size"),
        survived=("survived", "sum"),
        tests=("tests", "sum"),
        lost=("lost", "sum"),
        seconds=("seconds", "sum"),
    )
    found = [kind for kind in KINDS if kind in kinds.index]
    kinds = kinds.loc[found]
    sections = [
        f"## {kind}\n\n{KINDS[kind].capitalize()}.\n\n{_by_outcome(faults.loc[kind])}" for kind in found
    ]
    return "\n\n".join(
        [
            "# Faults that are tried",
            f"Tests cause each of these faults: {_of(kinds, 'Killed', 'Disk')} end processes, fill disks or "
            f"damage files, {_of(kinds, 'Arrays', 'Representations', 'Laws')} are arrays, their "
            "representations and laws of learners, the others are servers, stores, settings and files that "
            "misbehave. A fault is survived if its outcome is the one that is listed here "
            "and, where a run was disturbed, if the next run completes it with tables equal to the last bit "
            "to those of an undisturbed run.",
            f"`make faults` on {date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} "
            f"cores, Python {platform.python_version()}: **{kinds['survived'].sum()} of {len(faults)} faults "
            f"survived, {kinds['lost'].sum():.0f} finished files lost**, {bad} bad inputs tried.",
            _markdown(kinds.reset_index()),
            "*tests*: each fault is tried with several learners, files or settings. *lost*: files that were "
            "finished before the fault and had to be made again, or differ afterwards. Below, faults of one "
            "outcome are one item.",
            *sections,
        ]
    )


def _by_outcome(faults) -> str:
    """The faults of one kind as a Markdown list of outcomes, each with its faults."""
    grouped = faults.reset_index().groupby("outcome", sort=True)["fault"]
    lines = [f"- **{outcome.strip('*')}**: {'; '.join(sorted(names))}" for outcome, names in grouped]
    return "\n".join(lines).replace("<", r"\<")


def _markdown(lines) -> str:
    shown = lines.assign(
        lost=lines["lost"].map("{:.0f}".format).replace("nan", ""),
        seconds=lines["seconds"].map("{:.1f}".format),
    )
    return shown.to_markdown(index=False, disable_numparse=True)
