"""Check values of parameters by scikit-learn's own parameter validation.

This needs the classes to be imported, which takes a second; results are therefore cached between runs.
"""

import importlib
import json
import re
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version

from entrolab.jobs.source_analysis import (
    UnknownEstimatorError,
    is_users_own,
    keep_facts,
    remembered,
    source_digests,
    written_at,
)
from entrolab.study.sections import shortened
from entrolearn.suggest import did_you_mean

# Values checked in this process: a study asks about the same values for each of its data sets.
_known: dict[tuple[str, ...], str] = {}


def check_values(import_path: str, parameter: str, values, *, what: str) -> None:
    """Raise an `UnknownEstimatorError` for the first of `values` that the class refuses for `parameter`."""
    if is_users_own(import_path):
        return  # only jobs run users' code
    for value in values:
        asked = (import_path, parameter, repr(value))
        if asked not in _known:
            key = json.dumps([_state(import_path), *asked]).encode()
            _known[asked] = remembered(key, partial(_accepted, import_path, parameter, value))
            keep_facts()
        if accepted := _known[asked]:
            hint = did_you_mean(str(value), re.findall("'(.*?)'", accepted))
            raise UnknownEstimatorError(
                f"{import_path} takes no {parameter} = {shortened(value)} ({what}){hint}; "
                f"accepted: {accepted}"
            )


@cache
def _state(import_path: str) -> list:
    """The cache key of a class: it changes whenever the constraints of the class may have changed."""
    return [version("scikit-learn"), written_at(import_path), source_digests(import_path)]


def _accepted(import_path: str, parameter: str, value) -> str:
    """What the constraints of a parameter accept if they refuse the value; empty if they accept it."""
    module, _, name = import_path.rpartition(".")
    from sklearn.utils._param_validation import validate_parameter_constraints

    with suppress(ImportError, AttributeError):
        estimator = getattr(importlib.import_module(module), name)
        constraints = getattr(estimator, "_parameter_constraints", {})
        try:
            validate_parameter_constraints({**constraints}, {parameter: value}, caller_name=name)
        except ValueError as error:
            told = re.search(r" must be (.*)\. Got ", str(error), re.DOTALL)
            return told[1] if told else ""  # an error within the constraints gives no match
    return ""
