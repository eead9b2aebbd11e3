"""Types of public signatures: `make lint` checks this file, and the tests that no public name lacks any."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import assert_type, get_type_hints

import numpy as np

import entrolearn
from entrolearn import MELM, EEMClassifier, ELMRegressor, KLClustering, gmean_score
from entrolearn.feature_selection import InformationFilter
from entrolearn.maxent import MaximumEntropyDistribution
from entrolearn.metrics import information_scorer, visual_separability


def public() -> dict[str, Callable]:
    """Public functions, and public methods that the package defines."""
    found: dict[str, Callable] = {}
    for name, module in (entrolearn._MODULES | entrolearn._IN_SUBPACKAGES).items():
        value = getattr(import_module(module), name)
        members = inspect.getmembers_static(value) if inspect.isclass(value) else [("", value)]
        for member, function in members:
            function = inspect.unwrap(getattr(function, "__func__", getattr(function, "fn", function)))
            ours = inspect.isfunction(function) and function.__module__.startswith("entrolearn")
            if ours and not member.startswith("_"):
                found[f"{name}.{member}".rstrip(".")] = function
    return found


def test_public_functions_say_what_they_return():
    assert [name for name, function in public().items() if "return" not in get_type_hints(function)] == []


def test_what_a_type_checker_sees() -> None:
    """`make lint` fails where a type is lost on the way to the user, as by an untyped decorator."""
    X = np.random.default_rng(0).uniform(size=(30, 3))
    y = (X[:, 0] > 0.5).astype(int)
    classifier = assert_type(EEMClassifier(5, min_class_size=0).fit(X, y), EEMClassifier)
    assert_type(classifier.predict(X), np.ndarray)
    assert_type(classifier.predict_proba(X), np.ndarray)
    assert_type(classifier.decision_function(X), np.ndarray)
    assert_type(ELMRegressor(5).fit(X, y), ELMRegressor)
    assert_type(InformationFilter(1).fit(X, y), InformationFilter)
    assert_type(MELM(n_init=1).fit(X, y).predict(X), np.ndarray)
    assert_type(KLClustering(2).fit(X).predict(X), np.ndarray)
    assert_type(gmean_score(y, classifier.predict(X)), float)
    assert_type(information_scorer("mutual_information"), Callable)
    assert_type(visual_separability(X[:, :2], y), float)
    die = MaximumEntropyDistribution.on_points(range(1, 7), [lambda x: x], [4.5])
    assert_type(die.entropy, float)
