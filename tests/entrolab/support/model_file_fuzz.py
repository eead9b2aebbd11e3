"""The fuzz of model files: every class that the loader accepts, in every form in which a file may name one.

``python -m model_file_fuzz`` loads them all and prints how many were refused, were loaded, or failed: ran or
opened what the file says, or raised anything but the one line of a refusal. It exits 1 if one failed.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir
from importlib import import_module
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import skops.io._trusted_types as of_skops
from crafted_models import called, dict_of, node, texts_of, write_model

import entrolearn
from entrolab.io.limits import KilledError, LimitError, Limits, within
from entrolab.io.model_reading import TRUSTED_CLASSES, TRUSTED_FUNCTIONS, load
from entrolab.text import Unreadable

# What a file would run, or open: no other event of the interpreter has this text in it.
MARK = "harm-of-a-model-file"
TEXT = f"__import__('os').mkdir('{MARK}')"
LIMITS = Limits(seconds=600, gib=4)
STEP = 50  # of the short run: each fiftieth file

state = dict_of(state=texts_of(TEXT), **{"__dict__": texts_of(TEXT), "_parse_arg_template": texts_of(TEXT)})


def attribute(module: str, name: str) -> dict:
    """A method of an object that has the state."""
    return node(
        module, name, "MethodNode", content={"func": "__reduce__", "obj": node(module, name, "ObjectNode")}
    )


def partial(module: str, name: str) -> dict:
    content = {
        "func": node(module, name, "TypeNode"),
        "args": texts_of(TEXT),
        "kwds": dict_of(),
        "namespace": dict_of(),
    }
    return node("functools", "partial", "PartialNode", content=content)


def default(module: str, name: str) -> dict:
    content = {"main": dict_of(), "default_factory": node(module, name, "TypeNode")}
    return node("collections", "defaultdict", "DefaultDictNode", content=content)


#: How a file may name a class: form -> schema of the module, the class.
FORMS: dict[str, Callable[[str, str], dict]] = {
    "an object with a state": lambda module, name: node(module, name, "ObjectNode", content=state),
    "an object with a text for a state": lambda module, name: node(
        module, name, "ObjectNode", content=texts_of(TEXT)
    ),
    "called by its constructor": lambda module, name: called(module, name, TEXT),
    "called as a loss": lambda module, name: called(module, name, TEXT, loader="LossNode"),
    "called as a tree": lambda module, name: called(module, name, TEXT, loader="TreeNode"),
    "a function": lambda module, name: node(module, name, "FunctionNode"),
    "a method": attribute,
    "a function with arguments": partial,
    "what makes missing values": default,
}


def accepted() -> list[str]:
    """The import paths of all that the loader accepts without a study: of skops, of ours, of entrolearn's."""
    names = set(TRUSTED_CLASSES | TRUSTED_FUNCTIONS)
    for name in vars(of_skops):
        if name.endswith("TYPE_NAMES"):
            names.update(getattr(of_skops, name))
    public = entrolearn._MODULES | entrolearn._IN_SUBPACKAGES
    found = (getattr(import_module(module), name) for name, module in public.items())
    names.update(f"{one.__module__}.{one.__qualname__}" for one in found if isinstance(one, type))
    return sorted(names)


def outcomes(step: int) -> Iterator[tuple[str, str, str]]:
    """The form, the class and the outcome of each `step`-th file."""
    happened: list[str] = []

    def notice(event: str, arguments: tuple) -> None:
        if any(MARK in str(one) for one in arguments if isinstance(one, str | bytes)):
            happened.append(event)

    sys.addaudithook(notice)
    with TemporaryDirectory() as folder, chdir(folder):
        file = Path(folder, "model.skops")
        for form, name in list(product(FORMS, accepted()))[::step]:
            module, _, own_name = name.rpartition(".")
            write_model(file, FORMS[form](module, own_name))
            happened.clear()
            try:
                load(file, [])
                outcome = "loaded"
            except Unreadable as error:
                outcome = "refused" if "\n" not in str(error) else "FAILED: more than one line"
            except BaseException as error:  # noqa: BLE001  which is the finding
                outcome = f"FAILED: {type(error).__name__}"
            yield form, name, f"FAILED: {', '.join(happened)}" if happened else outcome


def run(step: int = 1) -> tuple[Counter, list[str]]:
    """The counts of outcomes, and the findings; in a process of its own, which a file may end."""
    counts, findings = Counter(), []
    last = ("", "")
    try:
        for form, name, outcome in within(LIMITS, outcomes, step):
            last = form, name
            counts[outcome.partition(":")[0]] += 1
            if outcome.startswith("FAILED"):
                findings.append(f"{name} as {form}: {outcome}")
    except (LimitError, KilledError, RuntimeError) as error:
        findings.append(f"the file after {last[1]} as {last[0]}: {error}")
    return counts, findings


def main() -> None:
    counts, findings = run()
    print("\n".join(findings))
    told = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(counts.items()))
    print(f"{counts.total():,} files, {len(accepted()):,} classes in {len(FORMS)} forms: {told}")
    raise SystemExit(bool(findings))


if __name__ == "__main__":
    main()
