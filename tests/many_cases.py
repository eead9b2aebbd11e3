"""Tests that check many cases each: a test of its own for every case costs more than most cases do."""

import functools
import inspect
import warnings
from collections.abc import Callable

import pytest


def for_each(*names: str) -> Callable:
    """Decorate a test to check every item of its parameter ``cases``, given as the arguments `names`.

    All cases are checked, and those that fail are raised together, each with its name. Fixtures are shared.
    """

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def check_all(cases, record_property, **others):
            failed: dict[str, BaseException] = {}
            for case in cases:
                arguments = dict(zip(names, case if len(names) > 1 else [case], strict=True))
                try:
                    with warnings.catch_warnings():
                        test(**arguments, **others)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  raised below
                    error.add_note(f"case: {arguments}")
                    failed[", ".join(map(str, arguments.values()))] = error
            record_property("cases", len(cases))
            if failed:
                message = f"{len(failed)} of {len(cases)} cases: {'; '.join(failed)}"
                raise BaseExceptionGroup(message, list(failed.values()))

        taken = inspect.signature(test).parameters.values()
        new = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("cases", "record_property")
        ]
        own = [parameter for parameter in taken if parameter.name not in names]
        check_all.__signature__ = inspect.Signature([*own, *new])
        return check_all

    return decorate
