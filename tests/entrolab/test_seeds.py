"""The strings that seeds are derived from: renaming must not move a number."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from measured_scripts import script

from entrolab.data.dataset import Dataset
from entrolab.experiments.measuring import measured_by
from entrolab.fit import learners as registry
from entrolab.fit import refit as refitting
from entrolab.fit import training
from entrolab.io.limits import Limits
from entrolab.seeds.__main__ import main
from entrolab.study.config import load_configuration, read_yaml

ROOT = Path(__file__).parents[2]
ROWS = 208

# Study, table and data set of each measurement, and the strings that it asks for first.
MEASURED = [
    ("eem", "table1", "sonar", ["0/eem/table1/sonar/0"]),
    ("eem", "table2", "gaussians-many", ["0/eem/table2/rows"]),
    (
        "information_theory",
        "information_two_class",
        "sonar",
        ["0/information_theory/sonar/folds", "0/information_theory/sonar/linear/0"],
    ),
    (
        "information_theory",
        "clustering",
        "sklearn-iris",
        [f"0/information_theory/clustering/sklearn-iris/{what}" for what in ("rows", "run 1", "run 2")],
    ),
    ("melm", "table3", "sonar", ["0/melm/table3/sonar"]),
    ("melm", "starts", "sonar", ["0/melm/starts/sonar/1", "0/melm/starts/sonar/2"]),
    ("melm", "speed", "generated", ["0/melm/speed/100", "0/melm/speed/300"]),
    ("rkelm", "density", "generated", ["0/rkelm/density/10000/0.6"]),
    ("rkelm", "size", "generated", ["0/rkelm/size"]),
    ("today", "searches", "sonar", ["0/today/sonar/folds", "0/today/sonar/eem_searched/0"]),
]
FIGURES = {
    ("demo", "demo_process"): 308827415,
    ("eem", "figure2"): 3304640432,
    ("information_theory", "clusters"): 2276174002,
    ("information_theory", "error_densities"): 3736202716,
    ("melm", "figure1"): 1887829491,
    ("melm", "figure5"): 843324600,
}


class EnoughError(BaseException):
    """Ends the work that asks for seeds; jobs record any other exception."""


@pytest.fixture(scope="module")
def studies() -> dict:
    return load_configuration(ROOT, read_yaml(ROOT / "config" / "config.yaml"))[0]


@pytest.fixture
def asked_first(monkeypatch) -> Callable[[int, Callable], list[str]]:
    """The first strings that some work derives seeds from; it is ended then."""

    def listen(number: int, work: Callable, *arguments) -> list[str]:
        strings: list[str] = []
        sha256 = registry.hashlib.sha256

        def overheard(text: bytes):
            strings.append(text.decode())
            if len(strings) == number:
                raise EnoughError
            return sha256(text)

        monkeypatch.setattr(registry, "hashlib", SimpleNamespace(sha256=overheard))
        with pytest.raises(EnoughError):
            work(*arguments)
        return strings

    return listen


@pytest.fixture(scope="module")
def data() -> Dataset:
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 2
    return Dataset(rng.random((ROWS, 4)), y, list("abcd"), "binary", ["no", "yes"], np.zeros(ROWS, np.int8))


@pytest.mark.parametrize(("paper", "table", "dataset", "strings"), MEASURED)
def test_a_measurement(studies, data, asked_first, paper, table, dataset, strings):
    spec = studies[paper].measurement(table, dataset, 0)
    rows = SimpleNamespace(raw=data, scaled=data)
    assert asked_first(len(strings), measured_by, script(spec.script), rows, spec) == strings


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_a_figure(studies, paper, figure):
    assert studies[paper].spec_of_figure(figure).seed == FIGURES[paper, figure]


def test_the_operators_on_a_random_layer(data, asked_first):
    arguments = "sigmoid", [("uniform", "means")], [3], 2, [0, "eem", "table1", "sonar", 0]
    strings = asked_first(2, script("correlations").drawn, data, *arguments)
    assert strings == ["0/eem/table1/sonar/0", "0/eem/table1/sonar/0/uniform"]


def test_the_rows_that_are_clustered(studies, data, asked_first):
    spec = studies["information_theory"].measurement("divergence", "mnist", 0)
    strings = asked_first(1, measured_by, script(spec.script), SimpleNamespace(scaled=data), spec)
    assert strings == ["0/information_theory/divergence/mnist/rows"]


def test_folds():
    # The first four bytes of the sha256 of "0/eem/sonar/folds", by coreutils.
    assert registry.parts_seed(0, "eem", "sonar") == 0x3F180E42


def test_a_run(studies, data, asked_first):
    spec = studies["eem"].run("sonar", "eem_rbf", 0)
    parts = np.stack([np.arange(ROWS) % 5, np.arange(ROWS) % 5])
    limits = Limits(60, 8)
    string = "0/eem/sonar/eem_rbf/0"
    assert asked_first(1, training.train_run, data, parts, spec, limits) == [string]
    assert asked_first(1, refitting.refit, data, parts, {}, spec) == [string]


@pytest.mark.parametrize("arguments", [["melm", "table2", "--seeds", "0"], ["melm", "tabel2"], ["mine"]])
def test_a_wrong_command_is_refused_before_any_job(arguments, capsys):
    assert main(arguments) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
