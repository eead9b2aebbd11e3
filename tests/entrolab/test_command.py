"""The command `entrolab`: studies by their files, and the first study of a table."""

import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st
from snakemake.cli import parse_config
from snakemake_interface_executor_plugins.utils import format_cli_arg

from entrolab.command import check_studies, main, with_studies
from entrolab.schema.sections import ConfigError
from entrolab.study.config import check_targets, load_configuration, load_study
from entrolab.study.first_study import first_study
from entrolab.study.first_study import main as init

ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (["mine.yaml"], ["mine", "--config", "extra_studies=."]),
        (["-n", "./mine.yaml"], ["mine", "-n", "--config", "extra_studies=."]),
        (["mine.yaml", "--config", "seed=1"], ["mine", "--config", "extra_studies=.", "seed=1"]),
        (["mine.yaml", "--config=seed=1"], ["mine", "--config", "extra_studies=.", "seed=1"]),
        (["-Cseed=1", "mine.yaml", "-n"], ["mine", "-n", "--config", "extra_studies=.", "seed=1"]),
        (["2024/mine.yaml"], ["mine", "--config", 'extra_studies= "2024" ']),
        (["-n", "--", "-a/mine.yaml"], ["mine", "-n", "--config", 'extra_studies= "-a" ']),
        (["-n", "--", "mine.yaml", "demo"], ["mine", "-n", "--config", "extra_studies=.", "--", "demo"]),
        (["--configfile", "c.yaml", "--", "eem"], ["--configfile", "c.yaml", "--", "eem"]),
        (["eem", "-C", "extra_datasets=d.yaml"], ["eem", "-C", "extra_datasets=d.yaml"]),
        (["eem", "-n"], ["eem", "-n"]),
        (["results/mine/tables/scores.csv"], ["results/mine/tables/scores.csv"]),
        ([], []),
    ],
)
def test_a_studys_file_is_its_target_and_its_folder(folder, given, asked):
    for name in ("2024", "-a"):
        (folder / name).mkdir()
        (folder / name / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    assert with_studies(given) == asked


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
    target, _, given = with_studies([*(["--"] if name.startswith("-") else []), f"{name}/mine.yaml"])[:3]
    assert target == "mine"
    assert parse_config([given]) == {"extra_studies": name}
    of_job = format_cli_arg("--config", [shlex.quote(given)])
    assert parse_config(shlex.split(of_job)[1:]) == {"extra_studies": name}


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["mien.yaml"], "entrolab: mien.yaml: there is no such file, did you mean 'mine.yaml'?; accepted: "),
        (["mine.yml"], "entrolab: mine.yml: not a study's file; accepted: a file that ends in .yaml"),
        (
            ["-n", "mine.yaml", "shop.csv"],
            "entrolab: shop.csv: found a table; accepted: a study's file; `entrolab init",
        ),
        (["--config", "seed=1", "demo"], "entrolab: --config: found 'demo'; accepted: name=value, "),
        (["./--version.yaml"], "entrolab: --version.yaml: not a file name of a study; accepted: "),
        (["--", "--unlock.yaml"], "entrolab: --unlock.yaml: not a file name of a study; accepted: "),
        (["\x1b[31mred\x07.yaml"], "entrolab: red\ufffd.yaml: there is no such file"),
        (["mine.yaml", "other/mine.yaml"], "entrolab: found studies in . and other; accepted: one folder"),
        (
            ["init", "shop.csv", "--label", "bougt"],
            "label: found no column 'bougt' in shop.csv, did you mean",
        ),
        (["init", "ship.csv", "--label", "x"], "file: there is no file ship.csv, did you mean 'shop.csv'?"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_one_line(folder, monkeypatch, given, line):
    (folder / "other").mkdir()
    for name in ("other/mine", "--version", "--unlock"):
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
        "# categories: colour (2), paid (2)\n",
        "# missing values, imputed from the training rows: size (1)\n",
        "# left out (name it in `keep` to use it): number (the number of the row)\n",
        "  # paid alone determines bought: delete `drop` if it is known before the label\n",
    ):
        assert said in text
    assert "Wrote shop.yaml: `entrolab shop.yaml` makes" in capsys.readouterr().out
    study = load_study(Path("shop.yaml"), {})
    entry = study.own_data["shop"]
    assert list(entry["format"]["columns"]) == ["size", "colour"]
    assert set(study.models) == {"forest", "svm", "eem"}
    with pytest.raises(ConfigError, match="shop.yaml: exists already; accepted: another name by --output"):
        init(["shop.csv", "--label", "bought"])


@pytest.mark.parametrize(
    ("label", "rows", "learners"),
    [("size", 1, {"forest", "ridge", "elm"}), ("bought", 600, {"forest", "eem"})],
    ids=["numbers", "many rows"],
)
def test_the_first_learners_fit_the_task_and_the_size(folder, label, rows, learners):
    pd.concat([pd.read_csv("shop.csv")] * rows).to_csv("Großes Lager-2.csv", index=False)
    Path("out").mkdir()
    output = Path("out", "first.yaml")
    output.write_text(first_study(Path("Großes Lager-2.csv"), label, output))
    study = load_study(output, {})
    assert set(study.models) == learners
    assert list(study.own_data) == ["gro_es_lager_2"]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(names=["a\nb", "# c", "label: d"], stem="true")
@example(names=["'", '"', "{}"], stem="null")
@given(
    names=st.lists(st.text("ab:#'\"{}[],-&*!|>%@`~\n\t é", min_size=1), min_size=3, max_size=3, unique=True),
    stem=st.sampled_from(["shop", "true", "null", "no", "2020", "My Data-1"]),
)
def test_the_first_study_is_the_same_table_whatever_its_names_are(folder, names, stem):
    table = Path(f"{stem}.csv")
    frame = pd.DataFrame({name: np.arange(20.0) % 7 for name in names})
    frame[names[-1]] = ["a", "b"] * 10
    frame.to_csv(table, index=False)
    try:
        text = first_study(table, names[-1], Path("first.yaml"))
    except ConfigError:  # too many of these fail hypothesis' health check
        reject()
    (entry,) = yaml.safe_load(text)["datasets"].items()
    assert isinstance(entry[0], str)
    assert (entry[1]["file"], entry[1]["label"]) == (table.name, names[-1])


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
    assert check_studies(["mine.yaml"]) == 1
    hint, *places = [line.split(": ")[:2] for line in capsys.readouterr().out.splitlines()]
    assert "'paid'" in hint[1]  # which alone determines the label
    assert sorted(places) == [["mine.yaml", "models.own"], ["mine.yaml", "models.svm.grid.C"]]
    Path("mine.yaml").write_text(yaml.safe_dump(STUDY))
    assert check_studies(["mine.yaml"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert not Path("results").exists()


def test_check_takes_studies_of_the_project_and_refuses_mistakes_outside_learners(folder, capsys):
    assert check_studies([str(ROOT / "config" / "papers" / "demo.yaml")]) == 0
    Path("mine.yaml").write_text(yaml.safe_dump({**STUDY, "criteria": ["vc"]}))
    with pytest.raises(ConfigError, match="criteria"):
        check_studies(["mine.yaml"])


def test_check_needs_a_study():
    with pytest.raises(ConfigError):
        check_studies([])
