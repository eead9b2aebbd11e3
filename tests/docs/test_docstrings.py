"""Docstrings of public names: numpydoc's checks, examples, the attributes that a fitted learner has."""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest
from documented_names import documented
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate
from public_estimators import ESTIMATORS
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.datasets import load_iris
from sklearn.utils import get_tags

import entrolearn
from entrolearn import (
    LSSVC,
    LSSVR,
    RSVC,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    OneNormSVC,
    RKELMRegressor,
)
from entrolearn.feature_selection import InformationFilter

# Of numpydoc's checks all are held but these.
NOT_HELD = {
    "EX01": "an example; asked of classes and functions, not of each method",
    "ES01": "more than a summary; many need no more",
    "SA01": "See Also; many have no relative",
    "SS05": "a verb in the infinitive; a summary may be a noun in the plural",
    "PR07": "each parameter described; X, y and the like are, by their shapes; asked of learners",
    "PR08": "a capital letter at the beginning; it may be a symbol",
    "RT02": "no names of what is returned; scikit-learn gives them",
    "RT03": "what is returned described; its name and shape may tell it",
    "RT04": "a capital letter at the beginning of that; it may be a symbol",
}

PUBLIC_CLASSES = {f"entrolearn.{name}" for name in entrolearn.__all__ if name[0].isupper()}
PUBLIC_CLASSES |= {
    f"{module}.{name}" for name, module in entrolearn._IN_SUBPACKAGES.items() if name[0].isupper()
}

# Parts of a search, tools and axes: what needs them shows them.
WITHOUT_EXAMPLE = {
    "entrolearn.machines.leave_out.Influence",
    "entrolearn.kernels.check_memory",
    "entrolearn.kernels.memory_limit",
    "entrolearn.kernels.physical_memory",
    "entrolearn.measures.IndependenceTest",
    "entrolearn.measures.MutualInformationInterval",
    "entrolearn.optimize.CrossEntropyIteration",
    "entrolearn.optimize.CrossEntropyResult",
    "entrolearn.optimize.Family",
    "entrolearn.path.PathPoint",
    "entrolearn.plotting.clustering_axes",
    "entrolearn.plotting.description_of",
    "entrolearn.plotting.evaluation_axes",
    "entrolearn.plotting.plot_panels",
    "entrolearn.plotting.process_axes",
    "entrolearn.plotting.save_figure",
}


def resolved(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


API = {
    name: value
    for name in documented()
    if inspect.isroutine(value := resolved(name)) or inspect.isclass(value)
}


def methods(cls: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties of a class but those that have a base's docstring."""
    for member in inspect.classify_class_attrs(cls):
        ours = member.defining_class.__module__.startswith("entrolearn.")
        if ours and member.kind != "data" and not member.name.startswith("_"):
            value = getattr(cls, member.name)
            if value.__doc__ or inspect.getdoc(value) is None:
                yield member.name, value


def told_by_signature(value: object) -> bool:
    """Whether every parameter, and what is returned, has its type in the signature: a summary may then do."""
    if not inspect.isroutine(value):
        return False
    signature = inspect.signature(value)
    given = [each.annotation for each in signature.parameters.values() if each.name not in {"self", "cls"}]
    return inspect.Signature.empty not in [*given, signature.return_annotation]


def faults(name: str, value: object) -> list[str]:
    """What is wrong with a docstring, a line for each fault."""
    not_held = NOT_HELD.keys() - ({"PR07"} if name in PUBLIC_CLASSES else set())
    held = {code: text for code, text in validate(name)["errors"] if code not in not_held}
    sections = Validator(get_doc_object(value))
    if name in API and name not in WITHOUT_EXAMPLE and not sections.examples:
        held["EX01"] = "no example"
    if told_by_signature(value) and not sections.doc_parameters and not sections.returns:
        held = {code: text for code, text in held.items() if code not in {"PR01", "RT01", "YD01"}}
    if is_dataclass(value):  # a result, whose fields are what it has
        told = {attribute.name for attribute in sections.doc["Attributes"]}
        if {field.name for field in fields(value)} <= told:
            held.pop("PR01", None)
    if getattr(value, "_is_protocol", False):  # which is never made
        held.pop("PR01", None)
    return [f"{name}: {code} {text}" for code, text in held.items()]


@pytest.mark.parametrize("name", API)
def test_docstring_tells_what_it_should(name):
    found = faults(name, API[name])
    if inspect.isclass(API[name]):
        found += [
            fault for method, value in methods(API[name]) for fault in faults(f"{name}.{method}", value)
        ]
    assert found == []


LEARNERS = {type(learner).__name__: type(learner) for learner in ESTIMATORS}

# Leave-one-out errors are of a sequence of alpha, weights of the features of a linear kernel, p-values of a
# selection by a test.
SETTINGS = [
    *ESTIMATORS,
    InformationFilter("test", n_permutations=19, random_state=0),
    *(learner(alpha=[0.1, 1.0]) for learner in (ELMRegressor, KELMRegressor, RKELMRegressor, LSSVC, LSSVR)),
    *(each(kernel="linear") for each in (KELMClassifier, KELMRegressor, LSSVC, LSSVR, RSVC, OneNormSVC)),
]


def fitted(learner: BaseEstimator) -> Iterator[BaseEstimator]:
    """A learner on two classes, and on three where it takes them; a regressor on values of the same size."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X / X.max(), y + 0.5 * X.iloc[:, 0] if is_regressor(learner) else y
    yield clone(learner).fit(X[:100], y[:100])
    if not isinstance(learner, ClassifierMixin) or get_tags(learner).classifier_tags.multi_class:
        yield clone(learner).fit(X, y)


def attributes(learner: BaseEstimator) -> set[str]:
    """What a fitted learner has, stored or computed when asked for."""
    found = {name for name in dir(learner) if name.endswith("_") and not name.startswith("_")}
    return {name for name in found if hasattr(learner, name)}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore")  # of solvers that stop early, which is not asked here
def test_attributes_in_a_docstring_are_those_of_the_fitted_learner(name):
    settings = [learner for learner in SETTINGS if type(learner).__name__ == name]
    found = set().union(*(attributes(each) for learner in settings for each in fitted(learner)))
    assert {attribute.name for attribute in get_doc_object(LEARNERS[name])["Attributes"]} == found
