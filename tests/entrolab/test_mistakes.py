"""Files of a person's own that are wrong in any way that one comes upon, and the one line that says how."""

import copy
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from refused_studies import CATALOG, MOONS, STUDY, spoilt

from entrolab.schema.sections import ConfigError
from entrolab.study.config import load_catalog, load_configuration, load_study, read_yaml, study_files

ROOT = Path(__file__).parents[2]
LINE = "one line with its place and what is accepted, before any job"


@pytest.fixture
def study() -> dict:
    return copy.deepcopy(STUDY)


def refused(file: Path, read: Callable[[], object]) -> str:
    """What is said of a file, less its name, which comes first."""
    with pytest.raises(ConfigError) as caught:
        read()
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message.removeprefix(f"{file}: ")


def loaded(folder: Path, study: dict | bytes) -> dict:
    file = folder / "mine.yaml"
    file.write_bytes(study if isinstance(study, bytes) else yaml.safe_dump(study, sort_keys=False).encode())
    return load_study(file, CATALOG)


# ------------------------------------------------------------------------------------------ files as bytes


@pytest.mark.fault("Configuration", "a file that is not YAML, or not what it should be", LINE)
@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "this file is empty"),
        (b"# a comment\n", "this file is empty"),
        (
            b"title: a\nprotocol:\n\tfolds: 3\n",
            "line 3: ",
        ),
        (b"title: a\nreference: Erd\xf6s\n", "line 2: found the byte 0xf6; accepted: UTF-8"),
        (b"title: a\0\n", "unacceptable character #x0000"),
        (b"title: a\n---\ntitle: b\n", "line 2: but found another document"),
        (b"- title\n- protocol\n", "found ['title', 'protocol'], expected a mapping"),
        (b"title: 'a\n", "line 2: found unexpected end of stream"),
        (b"title: [a\n", "line 2: "),
        (b"title: a: b\n", "line 1: mapping values are not allowed"),
        (b"title a\nprotocol: b\n", "line 2: mapping values are not allowed"),
        (b"title: *name\n", "line 1: found undefined alias"),
        (b"title: !!python/object/apply:os.system ['true']\n", "line 1: could not determine a constructor"),
        (b"title: @a\n", "line 1: "),
        (b"title: a\ntitle: b\n", "line 2: key 'title' is repeated"),
        (b"models:\n  svm: {label: a}\n  svm: {label: b}\n", "line 3: key 'svm' is repeated"),
        (b"? [title, url]\n: a\n", "line 1: a key is a list or a mapping; accepted: a name"),
        (b"title: &a [*a]\n", "line 1: found unconstructable recursive node"),
        (b"&a\ntitle: *a\n", "line 1: found unconstructable recursive node"),
        (b"title: " + b"[" * 5000 + b"]" * 5000, "lists or mappings are nested too deeply"),
    ],
    ids=range(20),
)
def test_what_cannot_be_read_is_one_line(tmp_path, content, line):
    assert line in refused(tmp_path / "mine.yaml", lambda: loaded(tmp_path, content))


@pytest.mark.parametrize("change", ["\ufeff{}", "{}\n# \u00e9\u4e2d\n", "{}..."])
def test_what_only_looks_odd_is_read(tmp_path, study, change):
    """A byte order mark, letters of any language, the end of a document."""
    text = change.format(yaml.safe_dump(study, sort_keys=False))
    for written in (text, text.replace("\n", "\r\n")):
        assert loaded(tmp_path, written.encode()).title == "A study"


def test_anchors_and_merged_keys_are_yaml(tmp_path, study):
    text = yaml.safe_dump(study, sort_keys=False)
    text = text.replace("kernel: rbf\n", "kernel: &kernel rbf\n").replace(
        "      C: 3\n", "      kernel: *kernel\n"
    )
    merged = "<<: {caption: x, datasets: both, models: [svm]}\n    type: times\n    caption: Seconds\n"
    text = text.replace("  table1:\n", f"  seconds:\n    {merged}  table1:\n")
    read = loaded(tmp_path, text.encode())
    assert read.figures["plane"].params == {"kernel": "rbf"}
    assert (read.tables["seconds"].caption, read.tables["seconds"].models) == ("Seconds", ["svm"])


@pytest.fixture
def not_root():
    """Another user for a while: root may read everything."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        yield
        os.seteuid(0)
    else:
        yield


@pytest.mark.fault("Configuration", "a file that is absent, a folder, or not to be read", LINE)
def test_a_file_that_is_not_to_be_read_is_one_line(tmp_path, study, request):
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(study))
    file.chmod(0)
    request.getfixturevalue("not_root")
    assert refused(file, lambda: read_yaml(file)) == "Permission denied"


@pytest.mark.fault("Configuration", "a file that is absent, a folder, or not to be read", LINE)
@pytest.mark.parametrize(
    "what", ["absent", "a folder", "a dangling link", "a folder without studies", "no folder"]
)
def test_a_file_that_is_not_there_is_one_line(tmp_path, what):
    file = tmp_path / "mine.yaml"
    match what:
        case "absent":
            line = refused(file, lambda: load_catalog([file]))
            assert line == "No such file or directory"
        case "a folder":
            file.mkdir()
            assert refused(file, lambda: load_study(file, CATALOG)) == "Is a directory"
        case "a dangling link":
            file.symlink_to(tmp_path / "gone.yaml")
            line = refused(file, lambda: load_study(file, CATALOG))
            assert line == "No such file or directory"
        case "a folder without studies":
            line = refused(tmp_path, lambda: study_files([tmp_path]))
            assert line == "found no study (*.yaml); accepted: a folder with studies, one file each"
        case "no folder":
            file.touch()
            line = refused(file, lambda: study_files([file]))
            assert line.startswith("this folder does not exist; accepted: a folder with studies")


# ------------------------------------------------------------------------------------ what a study cannot be


@pytest.mark.fault("Configuration", "a mistake in a study", LINE)
@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("of_dataset.sizes.waves", {"of_dataset": "sizes"}, "sizes.waves: found {'of_dataset': 'sizes'}; ac"),
        ("answer_figure", "plain", "answer_figure: unknown figure of this study 'plain', did you mean 'plan"),
        (
            "errata.0.evidence",
            "{table1/moons/svm/gmean}",
            "found {table1/moons/svm/gmean}; accepted: {table/",
        ),
        # Words and numbers that YAML takes for something else.
        ("protocol.folds", 3.5, "protocol.folds: found 3.5, expected a whole number"),
        ("scaling.range", [0, float("inf")], "scaling.range.1: found inf, expected a number"),
        ("models.svm.grid", {1: [1]}, "models.svm.grid: found 1, expected a text"),
        ("datasets", {1: ["moons"]}, "datasets: found 1, expected a name of lower-case letters"),
        ("tables.table1.among", {"C": {"min": 2, "max": 1}}, "tables.table1.among.C: found min 2 and max 1"),
        ("tables.table1.among", {1: {"max": 1}}, "tables.table1.among: unknown parameter in this table's gr"),
        # What would fail in the first jobs.
        ("protocol.folds", 2, "protocol.folds: found 2, where the inner cross-validation of models.svm has"),
        ("scaling.range", [1, 1], "scaling.range: found [1, 1]; accepted: the lower end first"),
        ("protocol.folds", 46, "protocol.folds: found 46 for 'moons', whose smallest class has 45 rows; acc"),
        ("models.svm.grid", {"C": []}, "models.svm.grid.C: found [], expected a list of values, {logspace"),
        ("models.svm.grid", {"C": {"range": [0, 5, True]}}, "grid.C: found {'range': [0, 5, True]}, expecte"),
        ("models.svm.grid", {"C": {"logspace": [2, 1, 10]}}, "grid.C: found {'logspace': [2, 1, 10]}; accep"),
        ("models.svm.grid", {"C": {"logspace": [0, 400, 10]}}, "[0, 400, 10]}; accepted: {logspace: [first"),
        ("models.svm.grid", {"C": {"logspace": [0, 10**9, 10]}}, "accepted: at most 10,000 values"),
        ("models.svm.grid", {"C": {"range": [0, float("nan"), 1]}}, "expected a list of values, {logspace:"),
        (
            "models.svm.grid",
            {"C": [1, 10, 1]},
            "grid.C: found 1 twice for 'moons'; accepted: each value once",
        ),
        (
            "models.svm.grid",
            {"C": {"logspace": [0, 2, 1]}},
            "grid.C: found 1.0 twice for 'moons'; accepte",
        ),
        ("models.svm.grid", {"class_weight": [{0: 1, 1: 2}, {1: 2, 0: 1}]}, "{1: 2, 0: 1} twice for 'moons'"),
        (
            "of_dataset.sizes.waves",
            [3, 3],
            "knn.one_of.knn.grid.n_neighbors: found 3 twice for 'waves'; acc",
        ),
        ("datasets.both", ["moons", "moons"], "found ['moons', 'moons']; accepted: each value once"),
        ("models.knn.label", "SVM rbf", "table1.models: 'svm' and 'knn' are both shown as 'SVM rbf'; acc"),
        ("criteria", ["dcs_kde", "cv"], "criteria: 'dcs_kde' compares two classes, and 'waves' is a multicl"),
        ("models.svm.grid", {"step2__whiten": [True]}, "no step for 'step2__whiten' (models.svm.grid); acce"),
        # What is no import path.
        ("models.svm.estimator", "sklearn..SVC", "found 'sklearn..SVC', expected a dotted import path"),
        ("models.svm.estimator", "sklearn.svm.SVC\n", "expected a dotted import path such as"),
    ],
)
def test_what_a_study_cannot_be_is_one_line(tmp_path, study, place, value, line):
    file = tmp_path / "mine.yaml"
    assert line in refused(file, lambda: loaded(tmp_path, spoilt(study, place, value)))


def test_true_and_one_are_two_values_of_a_grid(tmp_path, study):
    study["models"]["svm"]["grid"] = {"verbose": [1, True, 0, False]}
    assert loaded(tmp_path, study).models["svm"].grid == {"verbose": [1, True, 0, False]}


@pytest.mark.fault("Configuration", "a mistake in a study", LINE)
def test_more_folds_than_values_are_one_line(tmp_path, study):
    study["metrics"].append("rmse")
    study["protocol"]["folds"] = 101
    study["models"]["svm"] |= {"estimator": "sklearn.svm.SVR"}
    study["tables"] = {
        "table1": study["tables"]["table1"] | {"metric": "rmse", "datasets": "values", "models": ["svm"]}
    }
    del study["figures"]
    line = refused(tmp_path / "mine.yaml", lambda: loaded(tmp_path, study))
    assert line == "protocol.folds: found 101 for 'series', which has 100 rows; accepted: 2 to 100"


# -------------------------------------------------------------------------------------- the published numbers


@pytest.mark.fault("Configuration", "a mistake in the published numbers", LINE)
@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "line 1: found ''; accepted: table,dataset,model,metric,value,std"),
        (b"table,dataset,model,metric,valu,std\n", "line 1: unknown column 'valu', did you mean 'value'?"),
        (b"table,dataset,model,metric,value\n", "line 1: found 'table,dataset,model,metric,value'; accepted"),
        (b"table;dataset;model;metric;value;std\n", "line 1: unknown column 'table;dataset;model;metric;val"),
        (b"tabel1,moons,svm,gmean,80,1\n", "line 2: table: unknown table of this study's tables 'tabel1', d"),
        (b"table1,moon,svm,gmean,80,1\n", "line 2: dataset: unknown dataset of this study's tables 'moon',"),
        (b"table1,moons,svn,gmean,80,1\n", "line 2: model: unknown model of this study's tables 'svn', did"),
        (b"table1,moons,svm,gmeen,80,1\n", "line 2: metric: unknown metric of this study's tables 'gmeen',"),
        (b"growth,series,svm,seconds_by_rows,2,\n", "line 2: dataset: unknown dataset of this study's table"),
        (b"table1,moons,svm,gmean,80\n", "line 2: found 5 fields; accepted: 6"),
        (b"table1,moons,svm,gmean,80,1,2\n", "line 2: found 7 fields; accepted: 6"),
        (b"table1,moons,svm,gmean,about 80,1\n", "line 2: value: found 'about 80'; accepted: a number, or n"),
        (b"\ntable1,moons,svm,gmean,1_0,\n\n", "line 3: value: found '1_0'; accepted: a number, or nothing"),
        (b"table1,moons,svm,gmean,80,inf\n", "line 2: std: found 'inf'; accepted: a number, or nothing"),
        (
            b"table1,moons,svm,gmean,80,1\ntable1,moons,svm,gmean,81,1\n",
            "line 3: the cell of line 2 again; accepted: each cell once",
        ),
        (
            b"table,dataset,model,metric,value,std,corrected\n",
            "line 1: unknown column 'corrected', did you mean 'corrected_value'?",
        ),
        (
            b"table,dataset,model,metric,value,corrected_value,std\n",
            "line 1: found 'table,dataset,model,metric,value,corrected_value,std'; accepted: table,",
        ),
        (b"table1,moons,svm,gmean,80,\xb11\n", "accepted: comma-separated values in UTF-8"),
    ],
)
def test_a_mistake_in_the_printed_numbers_is_one_line(tmp_path, study, content, line):
    file = tmp_path / "published.csv"
    header = b"" if line.startswith("line 1") else b"table,dataset,model,metric,value,std\n"
    file.write_bytes(header + content)
    assert line in refused(file, lambda: loaded(tmp_path, study | {"published": "published.csv"}))


@pytest.mark.fault("Configuration", "a mistake in the published numbers", LINE)
@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            "growth,,svm,numbers_by_rows,2,,numbers_by_row,\n",
            "line 2: metric: unknown metric of this study's",
        ),
        (
            "growth,,svm,numbers_by_row,2,,numbers_by_rows,\n",
            "line 2: metric: unknown metric of this study's",
        ),
        (
            "growth,,svm,numbers_by_rows,2,,,2^-1\n",
            "line 2: corrected_value: found '2^-1'; accepted: a number",
        ),
        (
            "growth,,svm,numbers_by_rows,2,,seconds_by_rows,\ngrowth,,svm,seconds_by_rows,1,,,\n",
            "line 3: the cell of line 2 again; accepted: each cell once",
        ),
    ],
)
def test_a_mistake_in_a_correction_is_one_line(tmp_path, study, content, line):
    file = tmp_path / "published.csv"
    file.write_text(f"table,dataset,model,metric,value,std,corrected_metric,corrected_value\n{content}")
    assert line in refused(file, lambda: loaded(tmp_path, study | {"published": "published.csv"}))


def test_printed_numbers_that_have_a_place_are_taken(tmp_path, study):
    file = tmp_path / "published.csv"  # beside the study
    file.write_text(
        "table,dataset,model,metric,value,std,corrected_metric,corrected_value\ntable1,moons,svm,gmean,80.0,,,\n"
        "growth,,svm,numbers_by_rows,2,,seconds_by_rows,\ngrowth,,svm,seconds_by_rows,1,,numbers_by_rows,0\n\n"
    )
    assert loaded(tmp_path, study | {"published": file.name}).published == str(file)


# --------------------------------------------------------------------------------- the catalog, the settings


@pytest.mark.fault("Configuration", "a mistake in the catalog", LINE)
@pytest.mark.parametrize(
    ("key", "place", "value", "line"),
    [
        (123, "title", "x", "found 123, expected a key of lower-case letters, digits and single hyphens"),
        ("my_moons", "title", "x", "found 'my_moons', expected a key of lower-case letters"),
        ("mine", "generator.name", "two_mons", "mine.generator.name: found 'two_mons', did you mean 'two_mo"),
        ("mine", "generator.noise", float("inf"), "mine.generator.noise: found inf, expected a number"),
        ("mine", "generator.noise", "much", "mine.generator.noise: found 'much', expected a number"),
        ("mine", "generator.radii", [1], "mine.generator: unknown key 'radii'; accepted: name, n_samples"),
        ("mine", "expect.row", 90, "mine.expect: unknown key 'row', did you mean 'rows'?"),
        ("mine", "missing_rows", True, "mine.missing_rows: found True; accepted: drop"),
        ("mine", "titel", "x", "mine: unknown key 'titel', did you mean 'title'?; accepted: title, "),
        ("mine", "task", "binray", "mine.task: found 'binray', did you mean 'binary'?; accepted: binary, "),
        ("mine", "source", "files", "mine: the key 'files' is missing"),
        ("mine", "loader", "iris", "mine: found 'loader'; accepted: no such key for the source 'generated'"),
        ("mine", "expect.rows", 0, "mine.expect.rows: found 0"),
        ("mine", "positive", 1, "mine.positive: found 1, expected a list"),
        ("mine", "positive", [1.5], "mine.positive.0: found 1.5, expected a text or a whole number"),
    ],
)
def test_a_mistake_in_a_catalog_of_ones_own_is_one_line(tmp_path, key, place, value, line):
    entry = yaml.safe_load(yaml.safe_dump(MOONS))
    file = tmp_path / "data.yaml"
    file.write_text(yaml.safe_dump({key: spoilt(entry, place, value)}))
    assert line in refused(file, lambda: load_catalog([file]))


@pytest.mark.parametrize(
    ("format", "place"),
    [
        ({"name": "csv", "header": "skp"}, "mine.format.header: found 'skp', did you mean 'skip'?"),
        ({"name": "csv", "drop": [1, "a"]}, "mine.format.drop.1: found 'a'"),
        ({"name": "rdata", "label": 1.5}, "mine.format.label: found 1.5, expected a text or a whole number"),
        ({"name": "mat", "label": "y"}, "mine.format: the key 'features' is missing"),
    ],
)
def test_the_options_of_a_format_are_the_parameters_of_its_reader(tmp_path, format, place):
    file = tmp_path / "data.yaml"
    entry = {key: one for key, one in MOONS.items() if key != "generator"}
    entry |= {"source": "files", "files": [{"path": "a", "url": "https://a.org/b"}], "format": format}
    file.write_text(yaml.safe_dump({"mine": entry}))
    assert refused(file, lambda: load_catalog([file])).startswith(place)


def test_a_regression_has_no_positive_class(tmp_path):
    file = tmp_path / "data.yaml"
    entry = {**MOONS, "task": "regression", "expect": {"rows": 90, "features": 2}}
    file.write_text(yaml.safe_dump({"mine": entry}))
    assert "mine: found 'positive'; accepted: one for binary" in refused(file, lambda: load_catalog([file]))
    file.write_text(yaml.safe_dump({"mine": {"tsk": entry.pop("task"), **entry}}))
    with pytest.raises(ConfigError, match="mine: unknown key 'tsk', did you mean 'task'"):
        load_catalog([file])


@pytest.mark.fault("Configuration", "a mistake in the settings", LINE)
@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("limit_secs", 1, "unknown key 'limit_secs', did you mean 'limit_seconds'?"),
        ("seed", "abc", "seed: found 'abc', expected a whole number"),
        ("seed", True, "seed: found True, expected a whole number"),
        ("seed", -1, "seed: found -1"),
        ("seed", 10**400, "seed: found 1000"),
        ("limit_gib", 0, "limit_gib: found 0"),
        ("limit_gib", float("nan"), "limit_gib: found nan, expected a number"),
        ("limit_seconds", float("inf"), "limit_seconds: found inf, expected a number above 0, or null"),
        ("limit_seconds", -1, "limit_seconds: found -1, expected a number above 0, or null"),
        ("papers", ["eemm"], "unknown study 'eemm', did you mean 'eem'?"),
        ("papers", ["demo", "demo"], "papers: found ['demo', 'demo'], expected a study's name or a list"),
        ("mirror", 5, "mirror: found 5, expected a text or null"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(name, value, line):
    settings = {"papers": "demo", "seed": 0, name: value}
    assert line in refused(Path("config"), lambda: load_configuration(ROOT, settings))
