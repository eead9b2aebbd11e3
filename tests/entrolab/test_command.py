"""The command `entrolab`: studies by their files, and the first study of a table."""

import shlex
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snakemake.cli import parse_config
from snakemake_interface_executor_plugins.utils import format_cli_arg

from entrolab.command import check, main, parsed, shipped, snakemake_arguments
from entrolab.schema.sections import ConfigError
from entrolab.study.config import check_targets, in_one_line, load_configuration, load_study, read_yaml
from entrolab.study.first_study import first_study
from entrolab.study.first_study import main as init

ROOT = Path(__file__).parents[2]
ALL = ["--cores", "all"]
STUDY = {"datasets": {"shop": {"file": "shop.csv", "label": "bought"}}, "models": {"svm": "sklearn.svm.SVC"}}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working folder, with a table and a study of it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    size = rng.normal(size=40).round(3)
    table = {
        "number": np.arange(40),
        "size": size,
        "colour": rng.choice(["red", "blue"], 40),
        "bought": np.where(size + rng.normal(size=40) > 0, "yes", "no"),
        "paid": "",
    }
    table["paid"] = np.where(table["bought"] == "yes", "cash", "nothing")
    frame = pd.DataFrame(table)
    frame.loc[4, "size"] = np.nan
    frame.to_csv("shop.csv", index=False)
    Path("mine.yaml").write_text(yaml.safe_dump(STUDY))
    return tmp_path


def asked_of_snakemake(words: list[str]) -> list[str]:
    given = parsed(words)
    return snakemake_arguments(given, given.studies)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (["mine.yaml"], ["mine", *ALL, "--config", "extra_studies=."]),
        (["run", "-n", "./mine.yaml"], ["mine", *ALL, "--dry-run", "--config", "extra_studies=."]),
        (["mine.yaml", "--config", "seed=1"], ["mine", *ALL, "--config", "extra_studies=.", "seed=1"]),
        (
            ["mine.yaml", "-C", "seed=1", "mirror=x", "-n"],
            ["mine", *ALL, "--dry-run", "--config", "extra_studies=.", "seed=1", "mirror=x"],
        ),
        (["2024/mine.yaml"], ["mine", *ALL, "--config", 'extra_studies= "2024" ']),
        (["mine.yaml", "demo"], ["mine", "demo", *ALL, "--config", "extra_studies=."]),
        (
            ["eem", "--cores", "2", "--", "-q", "--until", "fit"],
            ["eem", "--cores", "2", "-q", "--until", "fit"],
        ),
        (["results/mine/tables/scores.csv"], ["results/mine/tables/scores.csv", *ALL]),
    ],
)
def test_a_studys_file_is_its_target_and_its_folder(folder, given, asked):
    (folder / "2024").mkdir()
    (folder / "2024" / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    assert asked_of_snakemake(given) == asked


# Each is YAML, a number, true or false to Snakemake, or an option, a pattern or a program to a shell.
ODD_NAMES = [
    "plain", "with space", "ünï", "exp #1", "a: b", "True", "false", "null", "~", "nan", "inf", "Infinity",
    "[x]", "{x}", "a, b", "a - b", "'q'", '"q"', "&a", "*a", "!x", "%a", "@a", "`a`", "-a", "--version", "-1",
    ".5", "1e5", "0x10", "2024", "_1", "١٢", "a=b", "=a", " lead", "trail ", "a\nb", "a\\b", "$HOME",
    "$(touch x)", "| x", "> x", "- x", "? x", "a'b", 'a"b', "a'$b\"", "\x1b[31m", "\x7f", "\u202e", "😀",
    "\udcff", "x" * 200,
]  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_folder_reaches_snakemake_and_its_jobs_as_it_is_named(folder, name):
    (folder / name).mkdir()
    (folder / name / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    path = f"./{name}/mine.yaml" if name.startswith("-") else f"{name}/mine.yaml"
    target, *_, given = asked_of_snakemake([path])
    assert target == "mine"
    assert parse_config([given]) == {"extra_studies": name}
    of_job = format_cli_arg("--config", [shlex.quote(given)])
    assert parse_config(shlex.split(of_job)[1:]) == {"extra_studies": name}


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["mien.yaml"], "mien.yaml: there is no such file, did you mean 'mine.yaml'?"),
        (["mine.yml"], "mine.yml: not a study's file"),
        (["mine.yaml", "shop.csv"], "shop.csv: found a table"),
        (["mine.yaml", "--config", "demo"], "--config: found 'demo'"),
        (["demi"], "there is no study 'demi', did you mean 'demo'?"),
        (["./--version.yaml"], "--version.yaml: not a file name of a study"),
        (["\x1b[31mred\x07.yaml"], "red\ufffd.yaml: there is no such file"),
        (["mine.yaml", "other/mine.yaml"], "found studies in . and other; accepted: one folder"),
        (["show", "mine.yaml", "score"], "unknown table or figure 'score', did you mean 'scores'?"),
        (["list", "een"], "unknown study 'een', did you mean 'eem'?"),
        (["init", "shop.csv", "--label", "bougt"], "found no column 'bougt' in shop.csv, did you mean"),
        (["init", "ship.csv", "--label", "x"], "there is no file ship.csv, did you mean 'shop.csv'?"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_one_line(folder, monkeypatch, given, line):
    (folder / "other").mkdir()
    for name in ("other/mine", "--version"):
        (folder / f"{name}.yaml").write_text("")
    monkeypatch.setattr(sys, "argv", ["entrolab", *given])
    monkeypatch.setattr("entrolab.command.end_at_signals", lambda: None)
    with pytest.raises(SystemExit) as caught:
        main()
    assert line in str(caught.value)
    assert str(caught.value).isprintable()


def test_other_yaml_files_beside_a_study_do_not_matter(folder):
    for name in ("docker-compose", "all", "Other"):
        (folder / f"{name}.yaml").write_text("services: {}")
    config = {"papers": "demo", "seed": 0, "extra_studies": str(folder)}
    studies, _ = load_configuration(ROOT, config)
    assert [name for name in studies if (folder / f"{name}.yaml").exists()] == ["mine"]
    assert studies["mine"].title == "Mine"


@pytest.mark.parametrize("name", ["heart", "eem_data"])
def test_names_of_studies_and_of_data_may_be_equal(folder, name):
    study = {**STUDY, "datasets": {name: STUDY["datasets"]["shop"]}}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(study))
    config = {"papers": "demo", "seed": 0, "extra_studies": str(folder)}
    studies, _ = load_configuration(ROOT, config)
    assert studies.dataset("heart")["source"] == "files"
    assert studies[name].own_data[name] == studies.dataset(name)
    assert studies.dataset(name)["source"] == "own"


@pytest.mark.parametrize("name", ["data", "refit", "eem"])
def test_a_first_study_has_a_name_that_is_free(folder, name):
    Path("shop.csv").rename(f"{name}.csv")
    init([f"{name}.csv", "--label", "bought"], {"eem", "melm"})
    config = {"papers": "demo", "seed": 0, "extra_studies": "."}
    assert f"{name}_study" in load_configuration(ROOT, config)[0]


def test_the_first_study_says_what_was_found_and_can_be_made(folder, capsys):
    init(["shop.csv", "--label", "bought"])
    text = Path("shop.yaml").read_text()
    for said in (
        "# shop.csv: 40 rows; bought: two classes, ",
        "# numbers: size\n",
        "# categories: colour (2)\n",
        "# missing values, imputed from the training rows: size (1)\n",
        "# left out (name it in `keep` to use it): number (the number of the row)\n",
        "# dropped (delete it from `drop` to use it): paid (alone determines bought)\n",
    ):
        assert said in text
    assert "Wrote shop.yaml: `entrolab shop.yaml` makes" in capsys.readouterr().out
    study = load_study(Path("shop.yaml"), {})
    entry = study.own_data["shop"]
    assert list(entry["format"]["columns"]) == ["size", "colour"]
    assert set(study.models) == {"forest", "svm", "eem", "baseline"}
    with pytest.raises(ConfigError, match="shop.yaml: exists already; accepted: another name by --output"):
        init(["shop.csv", "--label", "bought"])


@pytest.mark.parametrize(
    ("label", "many", "learners"),
    [("size", 41, {"forest", "ridge", "elm"}), ("bought", 40, {"forest", "eem"})],
    ids=["numbers", "many rows"],
)
def test_the_first_learners_fit_the_task_and_the_size(folder, monkeypatch, label, many, learners):
    monkeypatch.setattr("entrolab.study.first_study.MANY_ROWS", many)
    Path("shop.csv").rename("Großes Lager-2.csv")
    Path("out").mkdir()
    output = Path("out", "first.yaml")
    output.write_text(first_study(Path("Großes Lager-2.csv"), label, output))
    study = load_study(output, {})
    assert set(study.models) == learners | {"baseline"}
    assert list(study.own_data) == ["gro_es_lager_2"]


@pytest.mark.parametrize(
    ("names", "stem"),
    [(["a\nb", "# c", "label: d"], "true"), (["'", '"', "{}"], "null"), (["no", "~", "é "], "2020")],
)
def test_the_first_study_is_the_same_table_whatever_its_names_are(folder, names, stem):
    table = Path(f"{stem}.csv")
    frame = pd.DataFrame({name: np.arange(20.0) % 7 for name in names})
    frame[names[-1]] = ["a", "b"] * 10
    frame.to_csv(table, index=False)
    text = first_study(table, names[-1].strip(), Path("first.yaml"))
    (entry,) = yaml.safe_load(text)["datasets"].items()
    assert isinstance(entry[0], str)
    assert (entry[1]["file"], entry[1]["label"]) == (table.name, names[-1].strip())


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("ab:#'\"{}[],-&*!|>%@`~\n\t é019.ex_+"), min_size=1, max_size=3))
def test_texts_in_one_line_of_yaml_stay_texts(folder, texts):
    Path("texts.yaml").write_text(in_one_line({"texts": texts}), encoding="utf-8")
    assert read_yaml(Path("texts.yaml")) == {"texts": texts}


def test_a_misspelt_study_is_no_rule_of_the_workflow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    studies = ["demo", "eem"]
    check_targets(["demo", "fit", "results/x.csv"], studies)
    with pytest.raises(ConfigError, match="there is no study 'slipp'; accepted: "):
        check_targets(["slipp"], studies)
    (tmp_path / "slip.yaml").write_text("")
    with pytest.raises(ConfigError, match=r"there is no study 'slipp', did you mean 'slip.yaml'\?"):
        check_targets(["slipp"], studies)
    with pytest.raises(ConfigError, match="there is no study 'reprot', did you mean 'report'"):
        check_targets(["reprot"], studies)


def test_check_finds_all_mistakes_of_a_study_and_of_its_learners(folder, monkeypatch, capsys):
    models = {
        "svm": {"estimator": "sklearn.svm.SVC", "grid": {"C": [1, 0]}},
        "own": {"estimator": "mine.Mine"},
    }
    Path("mine.yaml").write_text(yaml.safe_dump({**STUDY, "models": models}))
    assert check(parsed(["check", "mine.yaml"])) == 1
    hint, *places = [line.split(": ")[:2] for line in capsys.readouterr().out.splitlines()]
    assert "'paid'" in hint[1]  # which alone determines the label
    assert sorted(places) == [["mine.yaml", "models.own"], ["mine.yaml", "models.svm.grid.C"]]
    Path("mine.yaml").write_text(yaml.safe_dump(STUDY))
    assert check(parsed(["check", "mine.yaml"])) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert not Path("results").exists()


def test_check_takes_studies_of_the_project_and_refuses_mistakes_outside_learners(folder, capsys):
    assert check(parsed(["check", str(ROOT / "config" / "papers" / "demo.yaml")])) == 0
    Path("mine.yaml").write_text(yaml.safe_dump({**STUDY, "criteria": ["vc"]}))
    capsys.readouterr()
    assert check(parsed(["check", "mine.yaml", str(ROOT / "config" / "papers" / "demo.yaml")])) == 1
    wrong, right = capsys.readouterr().out.splitlines()
    assert "criteria" in wrong
    assert "nothing wrong" in right


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["run", "--help"]])
def test_the_command_has_a_help_and_a_version_of_its_own(monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "argv", ["entrolab", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code in (None, 0)
    said = capsys.readouterr().out
    assert len(said.splitlines()) < 30
    assert (said.split() == ["entrolab", version("entrolab")]) == (words == ["--version"])


def test_list_has_the_studies_and_the_parts_of_one(folder, capsys):
    parsed(["list"]).function(parsed(["list"]))
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == set(shipped())
    parsed(["list", "mine.yaml"]).function(parsed(["list", "mine.yaml"]))
    assert capsys.readouterr().out.split()[0] == "scores"


def test_shares_of_tables_are_those_of_their_grid_points(catalog):
    study = load_study(ROOT / "config" / "papers" / "demo.yaml", catalog)
    assert study.share_of_table("demo_cv") == 1
    assert study.share_of_table("demo_data") == 0
