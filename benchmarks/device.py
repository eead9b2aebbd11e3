"""Learners on an accelerator: rates of fits compared with matrix products, and with peers."""

import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

from benchmarks.data import uniform
from benchmarks.measure import measured
from benchmarks.peers import why_absent
from benchmarks.report import Section
from entrolab.io.limits import Limits
from entrolearn import EEMClassifier, RKELMClassifier, streaming

# Numbers of hidden units, or of landmarks of a kernel machine.
UNITS = (2_000, 5_000, 10_000, 20_000)
FEATURES = 54
# Rows increase by factors of ten while they take less than this share of the device's memory.
LARGEST_SHARE = 0.5
FIRST_ROWS = 10**5
ON_PROCESSOR = {"units": (250, 500, 1000), "rows": (10_000, 40_000)}
# Most operations of a fit, N h²: tens of seconds on a GPU of 2026, and on a processor's cores for NumPy.
MOST_OPERATIONS = 4e14
MOST_OF_NUMPY = 3e12
# A support vector machine's time grows with the square of its rows.
ROWS_OF_SVC = 20_000
ENOUGH_SECONDS = 1.0
MOST_TIMES = 100
PRODUCT_ORDER = 8192
PRODUCT_ORDER_ON_PROCESSOR = 2048

# The library beside a plain loop of torch: N h, so many that the solve takes a small part of a fit.
UNITS_OF_LOOP = (1_000, 2_000, 5_000)
FEATURES_OF_LOOP = 100
NUMBERS_OF_LOOP = 1.6e10
NUMBERS_ON_PROCESSOR = 1e7
ROWS_OF_LOOP = 2**16
PANEL_OF_LOOP = 256
WAYS = ("loop", "fit", "partial_fit", "fit rbf")

# Twice the variance of a Gaussian kernel: the mean squared distance of two rows in the unit cube.
SIGMA = FEATURES / 6

NUMPY = "NumPy"

COLUMNS = ("fit s", "fit Tflop/s", "product Tflop/s", "share %", "predict s")


@dataclass(frozen=True)
class Sizes:
    """Sizes and precisions to measure on a device.

    Attributes
    ----------
    device : str
        A device of torch: "cuda", "cuda:1", "cpu"; empty: CUDA if available, else the processor.
    units, rows : sequence of int
        Numbers of units and of rows; if empty, those of the module, and as many rows as fit.
    precisions : sequence of str
        Precisions of the rows.
    """

    device: str = ""
    units: Sequence[int] = ()
    rows: Sequence[int] = ()
    precisions: Sequence[str] = ("float32", "float64")


@dataclass(frozen=True)
class Machine:
    """A machine of this library: how it is built for a number of units, and its precisions."""

    name: str
    build: Callable[[int], BaseEstimator]
    precisions: Sequence[str]


MACHINES = (
    Machine("EEM", lambda h: EEMClassifier(h, random_state=0), ("float32", "float64")),
    Machine("RKELM", lambda h: RKELMClassifier(h, gamma=1 / SIGMA, random_state=0), ("float64",)),
)


@dataclass(frozen=True)
class Peer:
    """A learner of a library for accelerators, and the maximum number of rows for it."""

    name: str
    package: str
    fit: Callable  # of X and y on the device, and the number of units
    max_rows: float = math.inf


def _fit_falkon(X, y, n_units: int):
    """Kernel ridge regression on `n_units` Nyström centres, by conjugate gradients."""
    import falkon

    options = falkon.FalkonOptions(keops_active="no", use_cpu=X.device.type == "cpu")
    kernel = falkon.kernels.GaussianKernel(sigma=(SIGMA / 2) ** 0.5, opt=options)
    machine = falkon.Falkon(kernel=kernel, penalty=1e-6, M=n_units, options=options)
    return machine.fit(X, (2 * y - 1).to(X.dtype)[:, None])


def _fit_svc(X, y, n_units: int):
    """A support vector machine, which has no units."""
    from cuml.svm import SVC

    return SVC(kernel="rbf").fit(X, y.to(X.dtype))


PEERS = (
    Peer("Falkon, as many centres", "falkon", _fit_falkon),
    Peer("cuML's SVC", "cuml", _fit_svc, ROWS_OF_SVC),
)


def device(limits: Limits, sizes: Sizes) -> Section:
    """Share of the rate by units, rows and precision; each measurement runs in a separate process."""
    title = "The machines on a device"
    if absence := why_absent("torch"):
        return Section(title, notes=[f"Left out: {absence}"])
    found = measured(limits, ("name", "memory"), facts, sizes.device)
    if found["note"]:
        return Section(title, notes=[f"Left out: {found['note']}"])
    where, table = found["device"], []
    for precision, h, n in _wanted(sizes, found):
        for machine in MACHINES:
            if precision in machine.precisions:
                one = measured(limits, COLUMNS, fit_and_product, machine, where, n, h, precision)
                table.append(_line(machine.name, precision, h, n, one))
                if where != "cpu" and n * h**2 <= MOST_OF_NUMPY:
                    one = measured(limits, COLUMNS, fit_by_numpy, machine, n, h, precision)
                    table.append(_line(f"{machine.name}, NumPy", precision, h, n, one))
        one = measured(limits, COLUMNS, fit_from_disk, where, n, h, precision)
        table.append(_line("EEM, rows on disk", precision, h, n, one))
        for peer in present():
            rows = int(min(n, peer.max_rows))
            one = measured(limits, COLUMNS, fit_peer, peer, where, rows, h, precision)
            table.append(_line(peer.name, precision, h, rows, one))
    return Section(title, pd.DataFrame(table).set_index(["machine", "precision", "h", "N"]), _notes(found))


def _wanted(sizes: Sizes, found: dict):
    """Yield the combinations of precision, units and rows."""
    on_processor = found["device"] == "cpu"
    for precision in sizes.precisions:
        for h in sizes.units or (ON_PROCESSOR["units"] if on_processor else UNITS):
            for n in sizes.rows or (
                ON_PROCESSOR["rows"] if on_processor else rows_that_fit(found["memory"], h, precision)
            ):
                yield precision, h, n


def _line(name: str, precision: str, h: int, n: int, values: dict) -> dict:
    key = {"machine": name, "precision": precision, "h": h, "N": n}
    return key | {column: values[column] for column in COLUMNS}


def _notes(found: dict) -> list[str]:
    absences = [f"{peer.name}: {absence}." for peer in PEERS if (absence := why_absent(peer.package))]
    return [
        f"{found['name']}, torch {found['torch']}; d = {FEATURES}. A fit counts as N h² + 2 N d h "
        "operations: of the symmetric product a triangle. The product is of two square matrices of the same "
        "precision, TF32 off. "
        + (
            "Seconds of the processor."
            if found["device"] == "cpu"
            else f"Seconds of a clock, the device waited for; NumPy on {os.cpu_count()} processor cores."
        ),
        *absences,
    ]


def sums(limits: Limits, sizes: Sizes) -> Section:
    """Million rows a second of EEM, and of a plain loop of torch that only makes its sums."""
    title = "Sums on a device, beside a plain loop"
    if absence := why_absent("torch"):
        return Section(title, notes=[f"Left out: {absence}"])
    found = measured(limits, ("name",), facts, sizes.device)
    if found["note"]:
        return Section(title, notes=[f"Left out: {found['note']}"])
    numbers = NUMBERS_ON_PROCESSOR if found["device"] == "cpu" else NUMBERS_OF_LOOP
    table = []
    for h in sizes.units or UNITS_OF_LOOP:
        for n in sizes.rows or (int(numbers / h),):
            rates = measured(limits, WAYS, rows_a_second, found["device"], n, h)
            shares = {f"{way} / loop": rates[way] / rates["loop"] for way in WAYS[1:]}
            table.append({"h": h, "N": n, **{way: rates[way] for way in WAYS}, **shares})
    note = (
        f"{found['name']}, torch {found['torch']}; million rows a second, single precision, "
        f"d = {FEATURES_OF_LOOP}, two classes; sigmoid units, or rbf units. "
        "A fit also checks its rows and solves."
    )
    return Section(title, pd.DataFrame(table).set_index(["h", "N"]), [note])


def rows_a_second(where: str, n_samples: int, n_units: int) -> dict[str, float]:
    """Million rows a second of each of :data:`WAYS`."""
    import torch

    os.environ["SCIPY_ARRAY_API"] = "1"
    with config_context(array_api_dispatch=True):
        torch.set_num_threads(1)
        torch.manual_seed(0)
        X = torch.rand(n_samples, FEATURES_OF_LOOP, device=where)
        y = (X[:, 0] > X[:, 1]).to(torch.int64)
        sigmoid, rbf = (
            EEMClassifier(n_units, activation=name, bounds=(0, 1), random_state=0)
            for name in ("sigmoid", "rbf")
        )
        layer = sigmoid.fit(X[:1000], y[:1000])._layer
        weights, biases = layer.weights, layer.biases
        works = {
            "loop": lambda: plain_sums(X, y, weights, biases),
            "fit": lambda: sigmoid.fit(X, y),
            "partial_fit": lambda: clone(sigmoid).partial_fit(X, y, classes=[0, 1]),
            "fit rbf": lambda: rbf.fit(X, y),
        }
        return {way: n_samples / seconds(work, where) / 1e6 for way, work in works.items()}


def plain_sums(X, y, weights, biases) -> list[tuple]:
    """The sums of :class:`~entrolearn.machines.ClassMoments` for sigmoid units, by torch alone.

    Of each class with the shifted hidden rows x, and a = ||x||²: the sums of x x' (its lower triangle), x, a,
    a² and a x.
    """
    import torch

    of_classes = []
    for c in (0, 1):
        rows, h, double = X[y == c], len(weights), {"dtype": torch.float64, "device": X.device}
        outer, norm2, norm4 = (
            torch.zeros(h, h, **double),
            torch.zeros((), **double),
            torch.zeros((), **double),
        )
        total, norm2_row = torch.zeros(h, **double), torch.zeros(h, **double)
        shift = torch.addmm(-biases, rows[:256], weights.T).sigmoid_().mean(0)
        for block in rows.split(ROWS_OF_LOOP):
            units = torch.addmm(-biases, block, weights.T).sigmoid_()
            units -= shift
            H = units.double()
            for start in range(0, h, PANEL_OF_LOOP):
                stop = start + PANEL_OF_LOOP
                outer[start:, start:stop] += H[:, start:].T @ H[:, start:stop]
            squares = torch.linalg.vector_norm(H, dim=1) ** 2
            total += H.sum(0)
            norm2 += squares.sum()
            norm4 += squares @ squares
            norm2_row += squares @ H
        of_classes.append((outer.tril(), total, norm2, norm4, norm2_row))
    return of_classes


def present() -> list[Peer]:
    """The peers that can be imported."""
    return [peer for peer in PEERS if not why_absent(peer.package)]


def rows_that_fit(memory: float, n_units: int, precision: str) -> list[int]:
    """Numbers of rows, in factors of ten, for which rows, sums and solve fit into half of a device's memory.

    A fit to more than the first takes at most `MOST_OPERATIONS`.
    """
    size = np.dtype(precision).itemsize
    kept = 8 * 6 * n_units**2  # sums of two classes, their total, its factor, products
    most = (LARGEST_SHARE * memory - kept) / (2 * size * FEATURES)  # they are copied by class, block by block
    tens = max(0, math.floor(math.log10(max(most, 1) / FIRST_ROWS)))
    fitting = [FIRST_ROWS * 10**i for i in range(tens + 1)] if most >= FIRST_ROWS else []
    return [n for n in fitting if n == FIRST_ROWS or n * n_units**2 <= MOST_OPERATIONS]


def facts(wanted: str) -> dict:
    """The device: name, memory in bytes, and torch's version."""
    import torch

    where = wanted or ("cuda" if torch.cuda.is_available() else "cpu")
    if where == "cpu":
        name, memory = "the processor, one thread", math.nan
    else:
        properties = torch.cuda.get_device_properties(where)
        name, memory = properties.name, float(properties.total_memory)
    return {"device": where, "name": name, "memory": memory, "torch": torch.__version__}


def fit_and_product(kind: Machine, where: str, n_samples: int, n_units: int, precision: str) -> dict:
    """Seconds of a fit and of a prediction, and rates of the fit and of a product of matrices."""
    import torch

    os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn reads it when it dispatches
    with config_context(array_api_dispatch=True):
        X, y = _rows(where, n_samples, precision)
        machine = kind.build(n_units)
        fit = seconds(lambda: machine.fit(X, y), where)
        predict = seconds(lambda: machine.predict(X), where)
    order = PRODUCT_ORDER_ON_PROCESSOR if where == "cpu" else PRODUCT_ORDER
    square = torch.rand(order, order, dtype=X.dtype, device=X.device)
    product = 2 * order**3 / seconds(lambda: square @ square, where)
    rate = (n_samples * n_units**2 + 2 * n_samples * FEATURES * n_units) / fit
    values = fit, rate / 1e12, product / 1e12, 100 * rate / product, predict
    return dict(zip(COLUMNS, values, strict=True))


def fit_by_numpy(kind: Machine, n_samples: int, n_units: int, precision: str) -> dict[str, float]:
    """Seconds of a fit and of a prediction by NumPy, on all cores."""
    X, y = uniform(n_samples, FEATURES, np.dtype(precision))
    machine = kind.build(n_units)
    with threadpool_limits(os.cpu_count()):
        fit = seconds(lambda: machine.fit(X, y), NUMPY)
        return {"fit s": fit, "predict s": seconds(lambda: machine.predict(X), NUMPY)}


def fit_from_disk(where: str, n_samples: int, n_units: int, precision: str) -> dict[str, float]:
    """Seconds of a fit to rows in files, which are moved to the device chunk by chunk."""
    import torch

    os.environ["SCIPY_ARRAY_API"] = "1"
    torch.set_num_threads(1)
    there, machine = torch.empty(0, device=where), EEMClassifier(n_units, random_state=0)
    with TemporaryDirectory() as folder, config_context(array_api_dispatch=True):
        for name, array in zip("Xy", uniform(n_samples, FEATURES, np.dtype(precision)), strict=True):
            np.save(f"{folder}/{name}.npy", array)
        rows = streaming.rows(f"{folder}/X.npy", f"{folder}/y.npy")
        return {"fit s": seconds(lambda: streaming.fit(machine, rows, like=there), where)}


def fit_peer(peer: Peer, where: str, n_samples: int, n_units: int, precision: str) -> dict[str, float]:
    """Seconds of a peer's fit."""
    X, y = _rows(where, n_samples, precision)
    return {"fit s": seconds(lambda: peer.fit(X, y, n_units), where)}


def seconds(work: Callable[[], object], where: str) -> float:
    """Median seconds until the device has finished the work.

    Wall-clock seconds on an accelerator and of NumPy, processor seconds of one thread of torch.
    """
    clock = time.process_time if where == "cpu" else time.perf_counter
    work()  # the first call loads the code, also on the device
    spent: list[float] = []
    while len(spent) < MOST_TIMES and (not spent or sum(spent) < ENOUGH_SECONDS):
        _wait(where)
        start = clock()
        work()
        _wait(where)
        spent.append(clock() - start)
    return statistics.median(spent)


def _wait(where: str) -> None:
    if where not in ("cpu", NUMPY):
        import torch

        torch.cuda.synchronize(where)


def _rows(where: str, n_samples: int, precision: str):
    import torch

    torch.set_num_threads(1)  # one thread on the processor, as in all benchmarks
    torch.set_float32_matmul_precision("highest")
    X, y = uniform(n_samples, FEATURES, np.dtype(precision))
    return torch.as_tensor(X, device=where), torch.as_tensor(y, device=where)
