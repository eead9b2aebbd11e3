"""The benchmark of devices, on the processor."""

import math
import os
from contextlib import nullcontext
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import device
from benchmarks.device import FEATURES, Peer, Sizes, rows_that_fit
from benchmarks.report import Section
from entrolab.io.limits import Limits
from entrolearn.machines import ClassMoments
from entrolearn.machines.layers import RandomLayer

LIMITS = Limits(seconds=120)
SMALL = Sizes("cpu", units=(20,), rows=(600,))


@pytest.fixture
def _torch():
    pytest.importorskip("torch", reason="it takes gigabytes, and the lock does without")


@pytest.mark.usefixtures("_torch")
def test_rate_counts_the_operations_of_a_fit(monkeypatch):
    monkeypatch.setattr(device, "PRODUCT_ORDER_ON_PROCESSOR", 64)
    monkeypatch.setattr(device, "ENOUGH_SECONDS", 1e-3)
    section = device.device(LIMITS, SMALL)
    machines = [name for name, *_ in section.table.index]
    on_disk = "EEM, rows on disk"
    assert machines == ["EEM", on_disk, "EEM", "RKELM", on_disk]  # RKELM in double precision alone
    assert (section.table["fit s"] > 0).all()
    table = section.table.drop(index=on_disk, level=0)
    operations = 600 * 20**2 + 2 * 600 * FEATURES * 20
    assert (table["fit s"] * table["fit Tflop/s"] * 1e12).to_numpy() == pytest.approx(operations)
    share = 100 * table["fit Tflop/s"] / table["product Tflop/s"]
    assert table["share %"].to_numpy() == pytest.approx(share.to_numpy())
    assert "cuML's SVC: cuml is not installed." in section.notes


@pytest.mark.usefixtures("_torch")
def test_peer_that_is_installed_takes_part_and_one_that_fails_says_nothing_of_its_seconds(monkeypatch):
    asked = []

    def fit(X, y, n_units):
        asked.append((tuple(X.shape), n_units))
        raise ValueError("no such device")

    monkeypatch.setattr(device, "PRODUCT_ORDER_ON_PROCESSOR", 64)
    monkeypatch.setattr(device, "ENOUGH_SECONDS", 1e-3)
    monkeypatch.setattr(device, "PEERS", (Peer("someone", "torch", fit, max_rows=100),))
    table = device.device(LIMITS, Sizes("cpu", (20,), (600,), ("float64",))).table
    row = table.loc[("someone", "float64", 20, 100)]
    assert math.isnan(row["fit s"])


def test_without_torch_it_says_so(monkeypatch):
    monkeypatch.setattr(device, "why_absent", lambda package: f"{package} is not installed")
    section = device.device(LIMITS, SMALL)
    assert section.table.empty
    assert section.notes == ["Left out: torch is not installed"]


@pytest.mark.usefixtures("_torch")
def test_device_that_is_not_there_is_said():
    section = device.device(LIMITS, Sizes("cuda:7"))
    assert section.table.empty
    assert section.notes[0].startswith("Left out: ")


def test_rows_grow_by_tens_while_they_fit():
    memory = 80e9
    rows = rows_that_fit(memory, 2000, "float32")
    assert rows == [10**5, 10**6, 10**7]
    assert max(rows) * FEATURES * 4 * 2 < memory / 2
    assert rows_that_fit(memory, 2000, "float64") == [10**5, 10**6, 10**7]
    assert rows_that_fit(memory, 50_000, "float32") == []
    assert rows_that_fit(2 * memory, 20_000, "float32") == [10**5, 10**6]  # more would take minutes


def test_numpy_takes_part_on_all_cores(monkeypatch):
    limits = []
    monkeypatch.setattr(device, "threadpool_limits", lambda limit: limits.append(limit) or nullcontext())
    monkeypatch.setattr(device, "seconds", lambda work, where: len(work()))
    machine = SimpleNamespace(fit=lambda X, y: [X, y], predict=lambda X: X)
    found = device.fit_by_numpy(SimpleNamespace(build=lambda n_units: machine), 600, 20, "float32")
    assert found == {"fit s": 2, "predict s": 600}
    assert limits == [os.cpu_count()]


def test_command_line_gives_the_sizes(monkeypatch, tmp_path):
    asked = []

    def work(limits, sizes):
        asked.append(sizes)
        return Section("The machines on a device")

    monkeypatch.setitem(command.ON_DEVICES, "device", ("The machines on a device", work))
    options = ["--device", "cuda:1", "--device-units", "50", "60", "--device-rows", "1000"]
    command.main(["--parts", "device", *options, "--output", str(tmp_path)])
    assert asked == [Sizes("cuda:1", [50, 60], [1000])]


def test_seconds_are_of_work_after_its_first_time():
    calls = []
    assert device.seconds(lambda: calls.append(np.ones(10)), "cpu") >= 0
    assert len(calls) == 1 + device.MOST_TIMES


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_products_are_not_rounded_to_tf32():
    import torch

    device._rows("cpu", 10, "float32")
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.usefixtures("_torch")
def test_plain_loop_makes_the_sums_of_each_class(monkeypatch):
    """The covariance follows from the sums by its definition; the library's has other shifts."""
    import torch

    monkeypatch.setattr(device, "ROWS_OF_LOOP", 64)
    monkeypatch.setattr(device, "PANEL_OF_LOOP", 5)
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 4)), rng.integers(0, 2, 300)
    layer = RandomLayer.draw(4, 12, "sigmoid", np.random.RandomState(0))
    found = device.plain_sums(*map(torch.as_tensor, (X, y, layer.weights, layer.biases)))
    for c, (outer, total, norm2, norm4, norm2_row) in enumerate(found):
        H = layer(X[y == c])
        moments = ClassMoments(12, shift=layer(X[y == c][:256]).mean(axis=0)).update(H)
        for name, values in {"outer": outer, "sum": total, "norm2_row": norm2_row}.items():
            expected = np.tril(moments._outer) if name == "outer" else np.ravel(getattr(moments, f"_{name}"))
            np.testing.assert_allclose(values.numpy(), expected, rtol=1e-10, atol=1e-12)
        assert (norm2.item(), norm4.item()) == pytest.approx((moments._norm2[0], moments._norm4[0]))


@pytest.mark.usefixtures("_torch")
def test_rates_are_of_each_way_beside_the_loop(monkeypatch):
    monkeypatch.setattr(device, "ENOUGH_SECONDS", 1e-3)
    table = device.sums(LIMITS, SMALL).table
    assert (table.loc[(20, 600), list(device.WAYS)] > 0).all()
    assert table["fit / loop"].to_numpy() == pytest.approx((table["fit"] / table["loop"]).to_numpy())
