"""Claims that tests of this repository decide: run, stored, shown, refused."""

from pathlib import Path

import pytest

from entrolab.claims import repository_tests
from entrolab.claims.evaluation import evaluate
from entrolab.claims.numbers import Numbers
from entrolab.claims.repository_tests import STORED, run_tests, stored_outcomes
from entrolab.schema.sections import ConfigError
from entrolab.study.claims import Claim
from entrolab.study.config import read_yaml

ROOT = Path(__file__).parents[3]
ABOUT = {"place": "section 1", "claim": "This is so.", "strength": "theorem"}
TESTS = """
import pytest

def test_right(): assert 1 + 1 == 2

@pytest.mark.parametrize("k", [1, 2])
def test_wrong_for_two(k): assert k == 1

@pytest.mark.skip
def test_skipped(): pass
"""


def claim(name, **keys):
    return Claim(**ABOUT, id=name, **keys)


RIGHT, WRONG, SKIPPED = (f"tests/test_it.py::test_{name}" for name in ("right", "wrong_for_two", "skipped"))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "tests").mkdir()
    (home / "tests" / "test_it.py").write_text(TESTS)
    options = "addopts = ['--import-mode=importlib', '-m', 'not slow']"
    (home / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{options}\n")
    return home


@pytest.fixture(scope="module")
def passed(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to start
        return repository_tests._passed({RIGHT, WRONG, SKIPPED}, home)


@pytest.fixture
def ran(monkeypatch, passed):
    monkeypatch.setattr(repository_tests, "_passed", lambda names, home: {one: passed[one] for one in names})


def test_a_test_has_passed_with_all_its_parameters(passed):
    assert passed == {RIGHT: True, WRONG: False, SKIPPED: None}


def test_a_claim_holds_or_fails_by_tests_that_pass_and_is_undecided_if_one_does_not(home, ran):
    claims = [
        claim("so", tested_by=[RIGHT]),
        claim("not-so", refuted_by=[RIGHT]),
        claim("open", tested_by=[RIGHT, WRONG]),
        claim("untried", untested="a proof"),
    ]
    found = run_tests(claims, home)
    assert found["so"] == ("holds", "")
    assert found["not-so"] == ("fails", "")
    assert found["open"] == ("undecided", f"tests that pass, not {WRONG}")
    assert "untried" not in found
    rows = evaluate(claims, Numbers(None), found)
    assert rows[["id", "outcome", "part", "part_outcome"]].values.tolist() == [
        ["so", "holds", RIGHT, "holds"],
        ["not-so", "fails", RIGHT, "fails"],
        ["open", "undecided", RIGHT, "undecided"],
        ["open", "undecided", WRONG, "undecided"],
        ["untried", "not tested", "", ""],
    ]
    assert evaluate(claims[:1], Numbers(None))["outcome"].tolist() == ["undecided"]


@pytest.mark.parametrize("name", [SKIPPED, "tests/test_it.py::test_gone", "tests/test_gone.py::test_right"])
def test_a_test_that_is_skipped_or_does_not_exist_is_one_line_with_the_claim(home, ran, name):
    with pytest.raises(ConfigError) as error:
        run_tests([claim("open", tested_by=[name])], home)
    assert "claim open" in str(error.value)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_stored_outcomes_are_those_of_the_tests_that_the_claim_names_now(tmp_path):
    (tmp_path / "docs").mkdir()
    rows = ["study,claim,outcome,decides,decided_by", f"tiny,a,holds,,{RIGHT}", f"other,a,fails,,{RIGHT}"]
    (tmp_path / STORED).write_text("\n".join(rows))
    assert stored_outcomes("tiny", [claim("a", tested_by=[RIGHT])], tmp_path) == {"a": ("holds", "")}
    assert stored_outcomes("tiny", [claim("a", tested_by=[WRONG])], tmp_path) == {}
    assert stored_outcomes("tiny", [claim("b", tested_by=[RIGHT])], tmp_path) == {}


def test_the_tests_that_the_papers_claims_name_exist():
    claims = [one for file in ROOT.glob("config/claims/*.yaml") for one in read_yaml(file)["claims"]]
    names = {name for one in claims for key in ("tested_by", "refuted_by") for name in one.get(key, ())}
    assert len(names) > 30
    gone = {
        name
        for name in names
        if f"\ndef {name.partition('::')[2]}(" not in (ROOT / name.partition("::")[0]).read_text()
    }
    assert gone == set()
