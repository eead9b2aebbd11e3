"""Figures without a screen, and none left open."""

import matplotlib
import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import make_moons

from entrolearn import EEMClassifier


@pytest.fixture(autouse=True)
def offscreen():
    """matplotlib's file backend for the length of a test."""
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    plt.close("all")
    matplotlib.use(before)


@pytest.fixture(scope="session")
def moons():
    return make_moons(200, noise=0.2, random_state=0)


@pytest.fixture(scope="session")
def machine(moons):
    return EEMClassifier(20, random_state=0).fit(*moons)
