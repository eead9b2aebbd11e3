"""Sums on their way to another process: half their bytes, and the same numbers."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from entrolearn.machines.moments import ClassMoments
from entrolearn.machines.ridge import NormalEquations

H, T = (np.random.default_rng(seed).normal(size=(300, n)) for seed, n in enumerate((200, 3)))
SHIFT = np.linspace(-1, 1, 200)


def moments(*parts):
    sums = ClassMoments(200, [50, 200], shift=SHIFT)
    for part in parts:
        sums.update(H[part])
    return sums


def equations(*parts):
    sums = NormalEquations(200, 3)
    for part in parts:
        sums.update(H[part], T[part])
    return sums


def square(sums) -> np.ndarray:
    return sums._outer if isinstance(sums, ClassMoments) else sums._gram


def assert_equal(found, sums):
    assert vars(found).keys() == vars(sums).keys()
    for name, value in vars(sums).items():
        assert_array_equal(getattr(found, name), value)
    assert square(found).flags.f_contiguous  # in place for BLAS


@pytest.fixture(params=[moments, equations])
def summed(request):
    return request.param


@pytest.mark.parametrize("through", [lambda sums: pickle.loads(pickle.dumps(sums)), copy.deepcopy])
def test_sums_are_the_same_and_go_on_alike(summed, through):
    first, second = slice(0, 100), slice(100, None)
    for sums in (summed(), summed(first)):
        assert_equal(through(sums), sums)
    extended = through(summed(first))
    extended.update(*((H[second],) if summed is moments else (H[second], T[second])))
    assert_equal(extended, summed(first, second))
    assert_equal(through(summed(first)) + summed(second), summed(first) + summed(second))


def test_copy_has_sums_of_its_own(summed):
    sums = summed(slice(None))
    twin = copy.deepcopy(sums)
    twin += sums
    assert_equal(sums, summed(slice(None)))


def test_leading_units_are_the_same(summed):
    sums = summed(slice(None)).restrict(50)
    assert_array_equal(square(pickle.loads(pickle.dumps(sums))), square(sums))


def test_pickle_holds_a_triangle_and_of_no_rows_none(summed):
    matrix = 8 * 200**2
    assert len(pickle.dumps(summed(slice(None)))) < 0.55 * matrix
    assert len(pickle.dumps(summed())) < 0.1 * matrix
