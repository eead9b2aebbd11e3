"""Which values a learner takes of its parameters, read from its source as scikit-learn's classes state them.

Their ``_parameter_constraints`` are what ``fit`` checks. What is not written out there is given the benefit
of the doubt.
"""

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real

from entrolab.jobs.source_analysis import UnknownEstimatorError, constraints_of
from entrolab.study.sections import shortened
from entrolearn.suggest import did_you_mean

__all__ = ["check_values"]


@dataclass(frozen=True)
class Kind:
    """Values of one kind: what they are called, whether a value is one, and words that might be meant."""

    called: str
    takes: Callable[[object], bool]
    words: tuple[str, ...] = ()


def check_values(import_path: str, parameter: str, values, *, what: str) -> None:
    """Refuse the first of `values` that the class takes for none of its `parameter`.

    Raises
    ------
    UnknownEstimatorError
    """
    kinds = _kinds(import_path, parameter)
    if kinds is None:
        return
    for value in values:
        if not any(kind.takes(value) for kind in kinds):
            words = [word for kind in kinds for word in kind.words]
            accepted = " or ".join(kind.called for kind in kinds if kind.called)
            raise UnknownEstimatorError(
                f"{import_path} takes no {parameter} = {shortened(value)} ({what})"
                f"{did_you_mean(value, words)}; accepted: {accepted}"
            )


@cache
def _kinds(import_path: str, parameter: str) -> tuple[Kind, ...] | None:
    """The kinds of values that are accepted; None where the source does not say."""
    node = constraints_of(import_path, parameter)
    if not isinstance(node, ast.List):
        return None
    kinds = tuple(map(_kind, node.elts))
    return None if None in kinds else kinds


def _kind(node: ast.expr) -> Kind | None:
    """What one constraint says of values that a configuration file can hold."""
    match node:
        case ast.Constant(value=None):
            return Kind("null", lambda value: value is None)
        case ast.Constant(value=str(name)):
            return NAMED.get(name)
        case ast.Name(id=name):
            return TYPES.get(name)
        case ast.Call(func=ast.Name(id="Hidden"), args=[hidden, *_]):
            return _kind(hidden)
        case ast.Call(func=ast.Name(id="HasMethods")):
            return NO_VALUE
        case ast.Call(func=ast.Name(id="StrOptions"), args=[ast.Set(elts=elements), *_]):
            if all(isinstance(one, ast.Constant) for one in elements):
                words = tuple(sorted(one.value for one in elements))
                return Kind(", ".join(words), lambda value: value in words, words)
        case ast.Call(func=ast.Name(id="Interval"), args=[ast.Name(id=name), low, high], keywords=keywords):
            closed = next((word.value for word in keywords if word.arg == "closed"), None)
            if name in NUMBERS and isinstance(closed, ast.Constant):
                return _interval(name, _end(low, -math.inf), _end(high, math.inf), closed.value)
    return None


def _end(node: ast.expr, default: float) -> float | None:
    """An end of an interval; None where it is not a number in the source."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return default if value is None else value


def _interval(name: str, low: float | None, high: float | None, closed: str) -> Kind | None:
    if low is None or high is None:
        return None
    from_low, to_high = closed in ("left", "both"), closed in ("right", "both")

    def takes(value) -> bool:
        if not isinstance(value, NUMBERS[name]):
            return False
        above = value >= low if from_low or low == -math.inf else value > low
        below = value <= high if to_high or high == math.inf else value < high
        return above and below

    ends = [f"{'from' if from_low else 'above'} {low:g}"] if low > -math.inf else []
    ends += [f"{'to' if to_high else 'below'} {high:g}"] if high < math.inf else []
    what = "a whole number" if name == "Integral" else "a number"
    return Kind(" ".join([what, *ends]), takes)


NUMBERS = {"Real": Real, "Integral": Integral, "RealNotInt": float}
# What no file can hold: a function, an object.
NO_VALUE = Kind("", lambda value: False)
TYPES = {
    "callable": NO_VALUE,
    "bool": Kind("true or false", lambda value: isinstance(value, bool)),
    "dict": Kind("a mapping", lambda value: isinstance(value, dict)),
    "Integral": Kind("a whole number", lambda value: isinstance(value, Integral)),
    "Real": Kind("a number", lambda value: isinstance(value, Real)),
    "str": Kind("a word", lambda value: isinstance(value, str)),
}
NAMED = {
    "boolean": TYPES["bool"],
    "array-like": Kind("a list", lambda value: isinstance(value, (list, tuple, dict))),
    "random_state": Kind(
        "a whole number from 0 or null",
        lambda value: value is None or (isinstance(value, Integral) and 0 <= value < 2**32),
    ),
}
