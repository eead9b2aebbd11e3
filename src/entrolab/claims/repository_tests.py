"""Tests of this repository that decide claims: run them, and read their stored outcomes."""

import csv
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from entrolab.schema.sections import ConfigError
from entrolab.study.claims import Claim, tests_of_repository

# The stored outcomes of all claims, with the columns study, claim, outcome, decides and decided_by.
STORED = Path("docs/claims.csv")


def stored_outcomes(study_name: str, claims: Sequence[Claim], home: Path) -> dict[str, tuple[str, str]]:
    """Claim -> outcome and what would decide it, of the claims that name the tests they were decided by."""
    named = {claim.id: " ".join(tests_of_repository(claim)) for claim in claims}
    if not any(named.values()) or not (home / STORED).is_file():
        return {}
    with open(home / STORED, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["study"] == study_name]
    return {
        row["claim"]: (row["outcome"], row["decides"])
        for row in rows
        if named.get(row["claim"]) and row["decided_by"] == named[row["claim"]]
    }


def run_tests(claims: Sequence[Claim], home: Path) -> dict[str, tuple[str, str]]:
    """Run the tests of some claims, in one run of pytest; claim -> outcome and what would decide it.

    A claim holds if all tests of its `tested_by` pass, and fails if all of its `refuted_by` do. A test that
    does not exist or was skipped raises a `ConfigError`, with one line that names the claim.
    """
    wanted = {claim.id: names for claim in claims if (names := tests_of_repository(claim))}
    for claim, name in _pairs(wanted):
        file, _, function = name.partition("::")
        if not (home / file).is_file() or f"def {function}(" not in (home / file).read_text(encoding="utf-8"):
            raise ConfigError(f"claim {claim}: no test {name}")
    passed = _passed({name for _, name in _pairs(wanted)}, home) if wanted else {}
    for claim, name in _pairs(wanted):
        if passed.get(name) is None:
            raise ConfigError(f"claim {claim}: the test {name} was not run or was skipped")
    found = {}
    for claim in claims:
        if claim.id in wanted:
            failed = [name for name in wanted[claim.id] if not passed[name]]
            outcome = "undecided" if failed else "holds" if claim.tested_by else "fails"
            found[claim.id] = (outcome, f"tests that pass, not {', '.join(failed)}" if failed else "")
    return found


def _pairs(wanted: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(claim, name) for claim, names in wanted.items() for name in names]


def _passed(names: set[str], home: Path) -> dict[str, bool | None]:
    """Test -> whether it passed with all its parameters; None if it was skipped with some."""
    found = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "tests.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        subprocess.run([*command, *sorted(names)], cwd=home, stdout=sys.stderr, check=False)
        cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
        for case in cases:
            name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '').split('[')[0]}"
            ends = {child.tag for child in case}
            found[name].append(None if "skipped" in ends else not ends & {"failure", "error"})
    return {name: None if None in ends else all(ends) for name, ends in found.items()}
