"""Check the learners of a study by importing them: that they exist, and take the parameters and values set.

`learners_asked` collects what a study asks of its learners and imports none; `mistakes` imports them.
"""

import difflib
import importlib
import inspect
import pkgutil
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from entrolab.fit.learners import OF_A_STEP, ONE_OF, as_learner, learners_of
from entrolab.schema.sections import shortened
from entrolab.tables.types import TABLE_TYPES
from entrolab.text import one_line
from entrolearn.suggest import did_you_mean

if TYPE_CHECKING:
    from entrolab.study.study import Study

LEARNER, STEP = ["fit", "predict"], ["fit", "transform"]
# Files of no user: installed packages and frozen modules.
NO_USERS = re.compile("site-packages|dist-packages|^<")


class LearnerError(ValueError):
    """Raised for an import path without a class."""


# ------------------------------------------------------------------------------------------ what a study asks


@dataclass
class Asked:
    """What a study asks of a learner or step at one place; models that are scored have all attributes."""

    place: str
    learner: str  # import path
    methods: list[str] = field(default_factory=list)  # that are required
    tasks: dict[str, str] = field(default_factory=dict)  # task -> a data set
    weights: str = ""  # a data set with weights of rows
    threshold: str = ""  # a data set with a tuned threshold
    params: list[dict] = field(default_factory=list)  # the distinct parameters of its constructor
    grid: dict[str, list] = field(default_factory=dict)  # place -> [a parameter, its distinct values]


def learners_asked(study: "Study") -> list[Asked]:
    """What a study asks of its learners and steps: an entry for each place that names one."""
    asked: dict[tuple[str, str], Asked] = {}
    for dataset, name in study.runs():
        run = study.run(dataset, name, seed=0)
        for entry in _collect(asked, f"models.{name}", run):
            if ".steps." in entry.place:
                entry.methods = STEP
                continue
            entry.methods = LEARNER
            entry.tasks.setdefault(study.tasks[dataset], dataset)
            if "weight" in study.own_data.get(dataset, {}).get("format", {}):
                entry.weights = dataset
            if run.threshold:
                entry.threshold = dataset
    with_runs = {place.split(".")[1] for place, _ in asked}
    for name, model in study.models.items():
        if name not in with_runs:  # their values by data set are not checked here
            paths = [None] if model.one_of else learners_of(model)
            for fitted in [model.model_copy(update={"estimator": one}) for one in paths]:
                _collect(asked, f"models.{name}", fitted)
    for name, table in study.tables.items():
        table_type = TABLE_TYPES[table.type]
        for dataset, _ in table_type.rows_and_models(table, study) if "measured" in table_type.stages else ():
            for model, fitted in study.measurement(name, dataset, seed=0).learners().items():
                _collect(asked, f"tables.{name}.models.{model}", fitted)
    for name, figure in study.figures.items():
        for fitted in figure.learners(study).values():
            _collect(asked, f"figures.{name}", fitted)
    return list(asked.values())


def _collect(asked: dict, place: str, entry) -> list[Asked]:
    """Add the learners and steps that are fitted at a place; return their entries."""
    fitted = as_learner(entry)
    parts = [(f"{place}.{ONE_OF}.{name}", one, one.grid, "") for name, one in fitted.one_of.items()]
    parts = parts or [(place, fitted, {}, "")]
    steps = enumerate(fitted.steps)
    parts += [(f"{place}.steps.{number}", step, {}, f"step{number + 1}__") for number, step in steps]
    entries = []
    for at, part, own, prefix in parts:
        if not part.estimator:  # only steps are fitted
            continue
        found = asked.setdefault((at, part.estimator), Asked(at, part.estimator))
        entries.append(found)
        params = {name: one for name, one in (part.params or {}).items() if not _is_reference(one)}
        found.params += [params] if repr(params) not in map(repr, found.params) else []
        grid = {f"{at}.grid.{name}": [name, values] for name, values in own.items()}
        for name, values in fitted.grid.items():
            if name.startswith(prefix) if prefix else not OF_A_STEP.match(name):
                grid[f"{place}.grid.{name}"] = [name.removeprefix(prefix), values]
        for where, (name, values) in grid.items():
            _, known = found.grid.setdefault(where, [name, []])
            values = [] if _is_reference(values) else values
            known += [one for one in values if repr(one) not in map(repr, known)]
    return entries


def _is_reference(value) -> bool:
    return isinstance(value, Mapping) and set(value) == {"of_dataset"}


# ----------------------------------------------------------------------------------------- what learners take


def mistakes(asked: Iterable[Asked]) -> list[str]:
    """A line for each mistake in what is asked of learners: the first place that has it, and what it is."""
    found: dict[str, str] = {}
    checked: set[tuple] = set()
    for entry in asked:
        for place, line in _mistakes(entry, checked):
            found.setdefault(line, place)
    return [f"{place}: {line}" for line, place in found.items()]


def _settings(entry: Asked) -> Iterator[tuple[str, str, list]]:
    """Yield (place, parameter, values) of all that is set."""
    for params in entry.params:
        yield from ((f"{entry.place}.params.{name}", name, [value]) for name, value in params.items())
    yield from ((place, name, values) for place, (name, values) in entry.grid.items())


def _mistakes(entry: Asked, checked: set[tuple]) -> Iterator[tuple[str, str]]:
    """Yield (place, line); `checked` are the values of parameters that have been checked already."""
    from sklearn.base import is_classifier, is_regressor

    from entrolearn.kernels import KernelParameters, further_params

    place, path = entry.place, entry.learner
    try:
        learner = load(path)
    except LearnerError as error:
        yield place, str(error)
        return
    required = [*entry.methods, "get_params", "set_params"]
    if absent := [name for name in required if not hasattr(learner, name)]:
        yield place, f"found {path} without {absent[0]}; accepted: a class with {', '.join(required)}"
        return
    wrong = [*_wrong_values(learner, entry, checked)]
    yield from wrong
    if wrong:
        return
    try:
        made = _made(learner, entry)
    except Exception as error:  # noqa: BLE001  of a user's constructor
        told = one_line(error)
        yield place, f"found {path}: {told}; accepted: a constructor that stores its parameters unchanged"
        return
    if isinstance(made, KernelParameters):  # which go with the kernel
        try:
            further_params(made.kernel, made.kernel_params, path)
        except ValueError as error:
            yield place, str(error)
            return
    for task, dataset in entry.tasks.items():
        kinds = {"classifier": is_classifier, "regressor": is_regressor}
        right = "regressor" if task == "regression" else "classifier"
        # A class that says neither may be either.
        is_a = [name for name, kind in kinds.items() if hasattr(made, "__sklearn_tags__") and kind(made)]
        if is_a and right not in is_a:
            yield place, f"found {path}, a {is_a[0]}, for {dataset!r}, a {task} data set; accepted: a {right}"
            break
    if entry.weights and not _takes(learner.fit, "sample_weight"):
        yield (
            place,
            f"found {path}, whose fit takes no sample_weight, for {entry.weights!r}, whose rows have "
            "weights; accepted: a learner whose fit takes it",
        )
    if entry.threshold and not (hasattr(learner, "predict_proba") or hasattr(learner, "decision_function")):
        yield (
            f"{place}.threshold",
            f"found {path}; accepted: a classifier with predict_proba or decision_function",
        )


def _wrong_values(learner: type, entry: Asked, checked: set[tuple]) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for parameters that the constructor does not have, and values that it refuses."""
    from sklearn.utils._param_validation import validate_parameter_constraints

    path, constraints = entry.learner, getattr(learner, "_parameter_constraints", {})
    known = [*inspect.signature(learner).parameters]
    for place, name, values in _settings(entry):
        if not _takes(learner, name):
            accepted = f"{did_you_mean(name, known)}; accepted: {', '.join(known)}"
            yield place, f"found {name!r}, no parameter of {path}{accepted}"
            continue
        for value in values:
            if (key := (path, name, repr(value))) in checked:
                continue
            checked.add(key)
            try:
                validate_parameter_constraints({**constraints}, {name: value}, caller_name=path)
            except ValueError as error:
                # An error within the constraints gives no match.
                if told := re.search(r" must be (.*)\. Got ", str(error), re.DOTALL):
                    hint = did_you_mean(str(value), re.findall("'(.*?)'", told[1]))
                    yield place, f"found {shortened(value)} for {path}{hint}; accepted: {told[1]}"


def _takes(function, name: str) -> bool:
    """Whether a class or function has a parameter of a name, or takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of compiled code
        return True
    return any(one.name == name or one.kind is one.VAR_KEYWORD for one in parameters)


def _made(learner: type, entry: Asked):
    """An instance; raise an error if the constructor changes or drops parameters, which fits copy."""
    from sklearn.base import clone

    for params in entry.params:
        made = clone(learner(**params))
        kept = made.get_params(deep=False)
        for name, value in params.items():
            if repr(kept.get(name)) != repr(value):
                raise LearnerError(f"given {name} = {shortened(value)}, it keeps {shortened(kept.get(name))}")
    return made


def load(import_path: str) -> type:
    """The class at an import path."""
    module, _, name = import_path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except (Exception, SystemExit) as error:  # noqa: BLE001  of a user's module
        raise LearnerError(_why(import_path, error)) from None
    if inspect.isclass(found):
        return found
    hint = did_you_mean(name, [one for one in dir(sys.modules[module]) if one != name])
    raise LearnerError(f"found no {name!r} in {module}{hint}; accepted: a class in it")


def _why(import_path: str, error: BaseException) -> str:
    """Why the module of an import path cannot be imported."""
    missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    if missing and f"{import_path}.".startswith(f"{missing}."):
        package, _, name = missing.rpartition(".")
        within = getattr(sys.modules[package], "__path__", ()) if package else None
        known = [one.name for one in pkgutil.iter_modules(within)]
        if not package:  # names that are barely similar are other packages: 'cachetools' is no 'catboost'
            known = difflib.get_close_matches(name, known, 1, 0.75)
        hint = did_you_mean(name, known)
        return f"found no module {missing!r} for {import_path!r}{hint}; accepted: an installed one, or a file"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno))
    own = [frame for frame in frames if not NO_USERS.search(frame[0])] or frames
    file, line = own[-1]
    return f"cannot import {import_path!r}: {file}: line {line}: {type(error).__name__}: {one_line(error)}"
