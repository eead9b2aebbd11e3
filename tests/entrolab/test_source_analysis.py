"""What is read off sources: that a learner exists, what it takes, and which code its results depend on."""

import ast
import importlib
import inspect
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.utils import all_estimators

import entrolearn
from entrolab.data.dataset import Dataset
from entrolab.fit import training
from entrolab.fit.limits import Limits
from entrolab.jobs import source_analysis as sources
from entrolab.jobs.source_analysis import (
    LEARNER,
    STEP,
    UnknownEstimatorError,
    check_kind,
    check_manners,
    check_parameters,
    locate,
    source_digests,
    written_at,
)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A user's package: `mine.Learner` is defined in `mine.core`, which imports `mine.maths`."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_text("from mine.core import Learner\n")
    (folder / "core.py").write_text(
        '"""Docs."""\nfrom .maths import one\n'
        "class Learner:\n    def __init__(self, *, alpha=1, beta=2):\n        pass\n"
    )
    (folder / "maths.py").write_text("def one():\n    import mine.late\n    return 1\n")
    (folder / "late.py").write_text("")
    (folder / "apart.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    forget()
    yield folder
    forget()


def forget():
    """Sources are read once in a process; here they change."""
    for cached in vars(sources).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


@pytest.mark.parametrize(
    "path",
    [
        "sklearn.svm.SVC",
        "sklearn.linear_model.LogisticRegression",
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "entrolearn.EEMClassifier",
        "entrolearn.WELMClassifier",
        "entrolearn.RKELMClassifier",  # its constructor is a base class's
        "entrolearn.ELMRegressor",
    ],
)
def test_locate_finds_what_importing_finds(path):
    module, _, name = path.rpartition(".")
    cls = getattr(importlib.import_module(module), name)

    found = locate(path)
    assert found.module == cls.__module__
    assert found.parameters == tuple(inspect.signature(cls).parameters)


def test_locate_imports_nothing(package):
    locate("mine.Learner")
    assert "mine" not in sys.modules


def test_an_unknown_parameter_is_named_with_what_is_accepted(package):
    with pytest.raises(
        UnknownEstimatorError, match="no parameter 'alfa'.*did you mean 'alpha'.*: alpha, beta"
    ):
        check_parameters("mine.Learner", ["beta", "alfa"], what="models.mine.params")


def test_what_only_running_code_could_tell_is_not_refused(package):
    (package / "__init__.py").write_text("from mine.core import *\n")
    forget()
    assert locate("mine.Learner").parameters is None


@pytest.mark.parametrize(
    ("kind", "task", "methods"),
    [
        ("classifier", "binary", LEARNER),
        ("classifier", "multiclass", LEARNER),
        ("regressor", "regression", LEARNER),
        ("transformer", "binary", STEP),
    ],
)
def test_no_estimator_of_scikit_learns_is_refused(kind, task, methods):
    for _, cls in all_estimators(type_filter=kind):
        if all(hasattr(cls, method) for method in methods):
            path = f"{cls.__module__}.{cls.__name__}"
            check_manners(path, methods)
            if kind != "transformer":
                check_kind(path, "mine", task)


def test_digests_reach_every_import_and_no_more(package):
    assert list(source_digests("mine.Learner")) == ["mine.core", "mine.late", "mine.maths"]


def test_a_digest_ignores_comments_docstrings_and_layout(package):
    before = source_digests("mine.Learner")
    core = package / "core.py"
    core.write_text(core.read_text().replace('"""Docs."""', '"""Other docs."""  # why\n\n'))
    forget()
    assert source_digests("mine.Learner") == before


def test_a_docstring_that_comes_or_goes_changes_no_digest(package):
    (package / "apart.py").write_text("def f():\n    x = 1\n    return x\n")
    before = source_digests("mine.apart")
    (package / "apart.py").write_text('"""Docs."""\n\n\ndef f():\n    """Docs."""\n    x = 1\n    return x\n')
    forget()
    assert source_digests("mine.apart") == before


def test_a_relative_import_without_a_package_is_one_line(package, tmp_path):
    (tmp_path / "alone.py").write_text("from .maths import one\n")
    with pytest.raises(UnknownEstimatorError, match="relative import of '.maths' without a package"):
        source_digests("alone")


def test_modules_of_a_folder_without_init_are_found(package, tmp_path):
    (tmp_path / "spread").mkdir()
    (tmp_path / "spread" / "part.py").write_text("class Mine:\n    def __init__(self, a=1):\n        pass\n")
    importlib.invalidate_caches()
    assert locate("spread.part.Mine").parameters == ("a",)


def test_a_digest_changes_with_the_code_of_its_module_alone(package):
    before = source_digests("mine.Learner")
    (package / "maths.py").write_text("def one():\n    import mine.late\n    return 2\n")
    forget()
    after = source_digests("mine.Learner")
    assert [name for name in before if before[name] != after[name]] == ["mine.maths"]


def test_what_is_kept_of_modules_is_never_that_of_other_code(package, tmp_path, monkeypatch):
    """It is found by the bytes of a file; where it cannot be read or written, modules are read again."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    forget()
    first = source_digests("mine.core")
    kept = sources.KEPT.read_text()
    read = []
    real = sources._digest_and_imports
    monkeypatch.setattr(sources, "_digest_and_imports", lambda tree: read.append(tree) or real(tree))
    forget()
    assert (source_digests("mine.core"), read) == (first, [])
    stat = (package / "maths.py").stat()
    (package / "maths.py").write_text("def one():\n    import mine.late\n    return 2\n")
    os.utime(package / "maths.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    forget()
    assert source_digests("mine.core")["mine.maths"] != first["mine.maths"]
    assert len(read) == 1
    for content in (kept[:50], ""):
        sources.KEPT.write_text(content)
        forget()
        assert source_digests("mine.core")["mine.core"] == first["mine.core"]


def test_installed_packages_are_left_to_the_lock_file():
    assert source_digests("sklearn.svm.SVC") == {}


def test_packages_of_another_environment_are_installed_too(tmp_path, monkeypatch):
    other = tmp_path / "dist-packages" / "theirs"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("class Learner:\n    pass\n")
    monkeypatch.syspath_prepend(str(other.parent))
    importlib.invalidate_caches()
    assert source_digests("theirs.Learner") == {}


def test_an_eem_run_depends_on_its_learner_its_protocol_the_reader_of_its_data_and_training_alone():
    assert [*source_digests("entrolab.fit.training", "entrolearn.EEMClassifier")] == [
        "entrolab.data.dataset",
        *(f"entrolab.fit.{name}" for name in ("learners", "limits", "probabilities")),
        *(f"entrolab.fit.{name}" for name in ("protocols", "refit")),
        *(f"entrolab.fit.{name}" for name in ("scoring", "selection", "thresholds", "training")),
        *(f"entrolab.io.{name}" for name in ("atomic", "parquet", "records")),
        "entrolab.text",
        "entrolearn.kernels",
        *(f"entrolearn.machines.{name}" for name in ("additive", "base", "boxes", "devices", "eem")),
        *(f"entrolearn.machines.{name}" for name in ("entropy_path", "gradients", "layers", "moments")),
        *(f"entrolearn.machines.{name}" for name in ("readouts", "sums")),
        *(f"entrolearn.measures.{name}" for name in ("density", "divergence")),
        *(f"entrolearn.{name}" for name in ("path", "selection", "suggest", "validation")),
    ]
    svm = source_digests("entrolab.fit.training", "sklearn.svm.SVC")
    assert not any(name.startswith(("entrolearn.machines", "entrolearn.kernels")) for name in svm)


def test_our_packages_hand_names_on_and_do_nothing_else():
    for file in Path(entrolearn.__file__).parent.rglob("__init__.py"):
        for node in ast.parse(file.read_text()).body:
            match node:
                case ast.ImportFrom() | ast.Import() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case ast.Expr(value=ast.Constant()):
                    continue
                case ast.Assign(targets=[ast.Name(id="__all__" | "_MODULES")]):
                    continue
                case ast.FunctionDef(name="__getattr__" | "__dir__"):
                    continue
            pytest.fail(f"{file}: line {node.lineno}: results may depend on it, and no digest holds it")


def test_the_digests_hold_all_that_a_training_job_runs(monkeypatch):
    X, y = make_moons(60, random_state=0)
    data = Dataset(X, y, ["a", "b"], "binary", ["0", "1"], np.zeros(60, np.int8))
    spec = {
        **dict.fromkeys(("study", "dataset", "model"), ""),
        **{"estimator": "entrolearn.EEMClassifier", "params": {}, "steps": [], "one_of": {}},
        **{"grid": {"n_hidden": [3, 5]}, "seed": 0, "metrics": ["gmean"], "criteria": ["cv", "dcs_kde"]},
        "protocol": {"folds": 3, "repeats": 1, "inner": "leave-two-folds-out"},
    }
    monkeypatch.setattr(training, "within", lambda limits, work, *arguments: work(*arguments))
    run = set()
    sys.setprofile(lambda frame, event, _: run.add(frame.f_globals.get("__name__", "")))
    try:
        _, record, *_ = training.train_run(data, np.arange(60)[None] % 3, spec, Limits(60, 8))
    finally:
        sys.setprofile(None)
    assert record["success"]
    ours = {name for name in run if name.partition(".")[0] in sources.OURS}
    ours -= {"entrolearn", "entrolearn.documentation"}  # a name that is handed on, the link to its page
    assert {"entrolab.fit.protocols", "entrolearn.machines.eem", "entrolearn.measures.divergence"} <= ours
    assert ours <= source_digests("entrolab.fit.training", spec["estimator"]).keys()


def test_names_that_lead_back_to_themselves_are_not_refused(package):
    (package / "apart.py").write_text("from sklearn.svm import SVC\nclass SVC(SVC): ...\n")
    (package / "core.py").write_text("from mine.late import Round\n")
    (package / "late.py").write_text("from mine.core import Round\n")
    for path in ("mine.apart.SVC", "mine.core.Round"):
        assert locate(path).parameters is None
        check_manners(path, LEARNER)


METHODS = "    fit = get_params = set_params = None\n    predict: object = None\n"


@pytest.mark.parametrize(
    ("arguments", "body", "refused"),
    [
        ("a, b", "self.a: int = a; self.b = b", False),
        ("a, b", "self.a, self.b = a, b", False),
        ("a, b", "self.a, self.b = b, a", True),
        ("a, /, b", "self.a = a; self.b = b", False),
        ("a, /, b", "self.b = b", True),
        ("a, /, b", "self.a = a", True),
    ],
)
def test_a_constructor_keeps_its_arguments_in_any_way_of_writing_it(package, arguments, body, refused):
    (package / "apart.py").write_text(
        f"class Mine:\n{METHODS}    def __init__(self, {arguments}):\n        {body}\n"
    )
    if refused:
        with pytest.raises(UnknownEstimatorError, match="does not store"):
            check_manners("mine.apart.Mine", LEARNER)
    else:
        check_manners("mine.apart.Mine", LEARNER)


@pytest.mark.parametrize("name", ["P", "P1", "P2", "SVC"])
def test_names_are_found_however_they_are_assigned(package, name):
    (package / "apart.py").write_text(
        "class A: ...\nP: type = A\nP1, P2 = A, A\n"
        "with suppress(ImportError):\n    from sklearn.svm import SVC\n"
    )
    locate(f"mine.apart.{name}")


def test_what_could_not_be_written_is_written_later(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    forget()
    (tmp_path / ".snakemake" / "entrolab").write_text("in the way")
    sources.remembered(b"key", lambda: 7)
    sources.keep_facts()
    (tmp_path / ".snakemake" / "entrolab").unlink()
    sources.keep_facts()
    assert 7 in json.loads(sources.KEPT.read_text()).values()
    forget()


def test_the_time_of_a_users_file_is_known(tmp_path, monkeypatch):
    (tmp_path / "of_a_user.py").write_text("class Learner: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert written_at("of_a_user.Learner") == (tmp_path / "of_a_user.py").stat().st_mtime_ns
