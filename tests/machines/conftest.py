"""Fixtures: arrays of other libraries than NumPy, on each device that is available."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn import config_context

from entrolearn.validation import ARRAY_API, to_numpy

WITHOUT_TORCH = "torch is not installed: it takes gigabytes, and the lock does without"


@dataclass(frozen=True)
class Place:
    """A device of a library."""

    put: Callable  # an array of NumPy there

    def __call__(self, array, dtype=None):
        return self.put(np.asarray(array, dtype=dtype))

    def numbers(self, array) -> np.ndarray:
        """An array from there in NumPy."""
        return to_numpy(array)


def strict(device: str) -> Place:
    """A device of array_api_strict, which has no function beside the standard's."""
    array_api_strict = pytest.importorskip("array_api_strict")
    return Place(lambda array: array_api_strict.asarray(array, device=array_api_strict.Device(device)))


def with_torch(device: str) -> Place:
    if importlib.util.find_spec("torch") is None:
        pytest.skip(WITHOUT_TORCH)
    import torch

    return Place(lambda array: torch.asarray(array.copy(), device=device))


def with_cupy() -> Place:
    import cupy

    return Place(cupy.asarray)


def on_a_gpu() -> dict[str, Callable[[], Place]]:
    """The places of this computer's GPU, by each library that finds it."""
    places = {}
    if importlib.util.find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            places["torch cuda"] = lambda: with_torch("cuda")
    if importlib.util.find_spec("cupy") is not None:
        import cupy

        if cupy.is_available():
            places["cupy"] = with_cupy
    return places


PLACES = {
    "strict": lambda: strict("device1"),  # not the default device: arrays are made beside others, or an error
    "torch": lambda: with_torch("cpu"),
    **on_a_gpu(),
}


@pytest.fixture(params=PLACES)
def place(request) -> Place:
    """Each place with double precision."""
    return PLACES[request.param]()


@pytest.fixture
def single() -> Place:
    """A device without double precision, like Apple's."""
    return strict("no_float64")


@pytest.fixture
def dispatch(monkeypatch):
    """scikit-learn's dispatch of other libraries' arrays. It reads the variable when it dispatches."""
    if not ARRAY_API:
        pytest.skip("arrays of other libraries need scikit-learn 1.8 or newer")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with config_context(array_api_dispatch=True):
        yield
