"""Static analysis of learners' sources: existence, parameters, base classes, and digests of their modules.

The workflow checks every learner of every study before any job starts. Importing scikit-learn would take
longer than the analysis of all sources.
"""

import ast
import hashlib
import importlib.util
import json
import pkgutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from entrolab.io.atomic import replacing
from entrolearn.suggest import did_you_mean

# Names of folders of installed packages; an environment may also use those of the system.
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
OF_PACKAGES = {"site-packages", "dist-packages"}
MISSPELT = 0.75  # similarity from which a package's name is taken for a misspelling of another
# The packages of this repository.
OURS = {"entrolearn", "entrolab"}


class UnknownEstimatorError(ValueError):
    """Raised if a class or a parameter of it does not exist, or if it cannot be used as a learner."""


@dataclass(frozen=True)
class Definition:
    """The module that defines a class, and its parameters (None if the source does not name them all)."""

    module: str
    parameters: tuple[str, ...] | None


def locate(import_path: str) -> Definition:
    """Find the class behind an import path without importing anything, else raise with a suggestion.

    A class that can only be found by running code (a star import, a module's ``__getattr__``) is accepted.
    """
    module = import_path.rpartition(".")[0]
    package, _, inside = module.partition(".")
    if not _is_installed(package):
        # Names that are barely similar are other packages: 'cachetools' is not a misspelt 'catboost'.
        installed = (found.name for found in pkgutil.iter_modules())
        alike = [name for name in installed if SequenceMatcher(None, package, name).ratio() >= MISSPELT]
        hint = did_you_mean(package, alike) or "; if the name is right, install it"
        raise UnknownEstimatorError(
            f"{import_path!r}: no package {package!r} is installed, nor a file of that name{hint}"
        )
    if _module_file(module) is None:
        hint = did_you_mean(inside, _modules_in(package))
        raise UnknownEstimatorError(f"{import_path!r}: no module {inside!r} in {package}{hint}")
    if _module_file(import_path) is not None:
        raise UnknownEstimatorError(f"{import_path!r} is a module; accepted: a class in it")
    module, node = _found(import_path)
    return Definition(module, _constructor_parameters(module, node))


def check_parameters(import_path: str, names, *, what: str) -> None:
    """Raise an error for the first of `names` that is not a parameter of the class."""
    accepted = locate(import_path).parameters
    if accepted is None:
        return
    for name in names:
        if name not in accepted:
            # The notation of scikit-learn's pipelines and searches.
            of_step = "; a parameter of a step begins with step1__, step2__ …" if "__" in name else ""
            raise UnknownEstimatorError(
                f"{import_path} has no parameter {name!r} ({what})"
                f"{did_you_mean(name, accepted)}; accepted: {', '.join(accepted)}{of_step}"
            )


# Methods required of a learner, and of a preprocessing step.
LEARNER, STEP = ("fit", "predict"), ("fit", "transform")
CALLED = ("get_params", "set_params")


def check_manners(import_path: str, methods: tuple[str, ...]) -> None:
    """Raise an error if a class does not follow scikit-learn's conventions, as far as its source shows."""
    accepted = (
        f"accepted: a class with {', '.join(methods)} and get_params, which sklearn.base.BaseEstimator gives"
    )
    module, node = _found(import_path)
    if isinstance(node, ast.FunctionDef):
        raise UnknownEstimatorError(f"{import_path!r} is a function; {accepted}")
    classes, complete = _ancestry(module, node)
    defined = {name for one in classes for name in _attributes(one)}
    if complete and (missing := [name for name in (*methods, *CALLED) if name not in defined]):
        raise UnknownEstimatorError(f"{import_path!r} has no {missing[0]}; {accepted}")
    if classes and _is_users_own(_module_file(module)):
        _check_constructor(import_path, classes[0])


def check_decides(import_path: str) -> None:
    """Raise an error for a classifier that predicts only labels, as far as its source shows."""
    classes, complete = _ancestry(*_found(import_path))
    if complete and not {"predict_proba", "decision_function"} & set(chain(*map(_attributes, classes))):
        raise UnknownEstimatorError(
            f"{import_path!r} has no threshold to choose (`threshold`); accepted: a classifier with "
            "predict_proba or decision_function"
        )


def check_takes_weights(import_path: str, dataset: str) -> None:
    """Raise an error for a learner whose ``fit`` takes no ``sample_weight``, as far as its source shows."""
    methods = (item for node in _ancestry(*_found(import_path))[0] for item in node.body)
    fits = (item for item in methods if isinstance(item, ast.FunctionDef) and item.name == "fit")
    fit = next(fits, None)
    if fit is None or fit.args.kwarg:
        return
    if "sample_weight" not in {argument.arg for argument in [*fit.args.args, *fit.args.kwonlyargs]}:
        raise UnknownEstimatorError(
            f"{import_path!r} takes no weights of rows, and {dataset!r} has some (`weight`); accepted: a "
            "learner whose fit takes sample_weight"
        )


def check_kind(import_path: str, dataset: str, task: str) -> None:
    """Raise an error for a classifier used for regression, or a regressor used for classification."""
    names = {node.name for node in _ancestry(*_found(import_path))[0]}
    wrong, right = ("classifier", "regressor") if task == "regression" else ("regressor", "classifier")
    mixins = {kind: f"{kind.capitalize()}Mixin" in names for kind in (wrong, right)}
    if mixins[wrong] and not mixins[right]:
        raise UnknownEstimatorError(
            f"{import_path!r} is a {wrong}, and the task of {dataset!r} is {task}; accepted: a {right}, or "
            "`estimators` with one for classification and one for regression"
        )


def _check_constructor(import_path: str, node: ast.ClassDef) -> None:
    """Raise an error for a constructor that changes its arguments, which `sklearn.base.clone` forbids."""
    init = _constructor(node)
    if init is None:
        return
    if init.args.vararg or init.args.kwarg:
        raise UnknownEstimatorError(
            f"{import_path!r}: __init__ takes * or ** arguments; accepted: parameters by their names"
        )
    if any(isinstance(name, ast.Name) and name.id == "super" for name in ast.walk(init)):
        return
    pairs = (pair for statement in init.body for pair in _assigned(statement))
    stored = {(ast.unparse(target), ast.unparse(value)) for target, value in pairs if value}
    arguments = [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]
    for name in (argument.arg for argument in arguments[1:]):
        if (f"self.{name}", name) not in stored:
            raise UnknownEstimatorError(
                f"{import_path!r}: __init__ does not store {name} unchanged; accepted: "
                f"self.{name} = {name}, which scikit-learn needs to clone a learner"
            )


def _constructor(node: ast.ClassDef) -> ast.FunctionDef | None:
    found = (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
    return next(found, None)


def _constructor_parameters(module: str, node: ast.stmt | None) -> tuple[str, ...] | None:
    """The parameters of a class's own or inherited constructor; None if they are not all named."""
    init = next(filter(None, map(_constructor, _ancestry(module, node)[0])), None)
    if init is None or init.args.kwarg or init.args.vararg:
        return None
    arguments = [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]
    return tuple(argument.arg for argument in arguments[1:])


def _ancestry(
    module: str, node: ast.stmt | None, below: frozenset = frozenset()
) -> tuple[list[ast.ClassDef], bool]:
    """A class and its base classes as far as sources show them, and whether they show all of them.

    The search stops at a class that is in `below`, its own descendants: a base with the same name.
    """
    if not isinstance(node, ast.ClassDef) or (module, node.name) in below:
        return [], False
    classes, complete = [node], not node.decorator_list
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id == "object":
            continue
        found = _class_of(module, base.id) if isinstance(base, ast.Name) else None
        inherited, whole = _ancestry(*found, below | {(module, node.name)}) if found else ([], False)
        classes += inherited
        complete &= whole
    return classes, complete


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """The names of a class's methods, nested classes and attributes."""
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            yield item.name
        else:
            yield from (target.id for target, _ in _assigned(item) if isinstance(target, ast.Name))


def _assigned(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the targets that a statement assigns to, each with its value if the statement shows it."""
    todo: list = []
    if isinstance(node, ast.Assign):
        todo = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign) and node.value:
        todo = [(node.target, node.value)]
    while todo:
        target, value = todo.pop(0)
        if isinstance(target, ast.Starred):
            todo.append((target.value, None))
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            starred = any(isinstance(item, ast.Starred) for item in [*target.elts, *values])
            shown = len(values) == len(target.elts) and not starred
            todo += zip(target.elts, values if shown else [None] * len(target.elts), strict=True)
        else:
            yield target, value


def _modules_in(package: str) -> list[str]:
    """The modules directly in a package."""
    spec = importlib.util.find_spec(package)
    return [found.name for found in pkgutil.iter_modules(spec.submodule_search_locations or [])]


def check_imports(import_path: str) -> None:
    """Raise an error if a user's module, or one that it imports, imports a package that is not installed.

    Imports under ``try`` or ``if`` are not checked.
    """
    if not is_users_own(import_path):
        return
    module = locate(import_path).module
    for file in filter(None, map(_module_file, source_digests(module))):
        for node in _parse(file).body:
            for name in _absolutely_imported(node):
                if not _is_installed(name.partition(".")[0]):
                    raise UnknownEstimatorError(
                        f"{import_path!r}: {file}: line {node.lineno}: no package {name!r} is installed"
                    )


def written_at(import_path: str) -> int | None:
    """The modification time of the file that defines a class, in nanoseconds; None if there is no file."""
    file = _module_file(locate(import_path).module)
    return file.stat().st_mtime_ns if file and file.is_file() else None


def is_users_own(import_path: str) -> bool:
    """Whether a class is defined neither in this repository nor in an installed package."""
    module = locate(import_path).module
    return module.partition(".")[0] not in OURS and _is_users_own(_module_file(module))


def _absolutely_imported(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # `__main__`
        return False


def _class_of(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    """The module that defines a class, and its definition; None if only running code could find it."""
    with suppress(UnknownEstimatorError):
        module, node = _found(f"{module}.{name}")
        return (module, node) if isinstance(node, ast.ClassDef) else None
    return None


@cache
def _found(import_path: str, asked: frozenset = frozenset()) -> tuple[str, ast.stmt | None]:
    """The module that defines a name, and its class or function; None if only running code could find it.

    Modules may import a name from each other: names in `asked` are not followed again.
    """
    module, _, name = import_path.rpartition(".")
    file = _module_file(module)
    if file is None:
        raise UnknownEstimatorError(f"{import_path!r}: its module {module!r} does not exist")
    if file.suffix != ".py":
        return module, None
    names, open_ended = _names(module, file)
    found = names.get(name)
    if isinstance(found, tuple):
        origin, asked = ".".join(found), asked | {import_path}
        return _found(origin, asked) if origin not in asked and found[0] != module else (module, None)
    if name in names or open_ended:
        return module, found
    raise UnknownEstimatorError(f"{import_path!r}: no {name!r} in {module}{did_you_mean(name, names)}")


def source_digests(*import_paths: str) -> dict[str, str]:
    """The digests of modules that classes or modules depend on, by name; changed code changes a digest.

    Follows imports within entrolearn, entrolab and packages outside the environment's library folder; the
    lock file covers the others. The ``__init__`` of our packages only re-export and are skipped: an import
    from one depends on the module that defines the name. Comments, docstrings and layout are ignored. A
    module that cannot be read, or has a relative import without a package, raises `UnknownEstimatorError`.
    """
    todo = [path if _module_file(path) else locate(path).module for path in import_paths]
    digests: dict[str, str] = {}
    while todo:
        module = todo.pop()
        file = _module_file(module)
        if module in digests or file is None:
            continue
        if _under_development(module, file):
            digests[module] = _facts(file)["digest"]
            todo += _imported(module, file)
    keep_facts()
    return dict(sorted(digests.items()))


@cache
def _facts(file: Path) -> dict:
    """The digest of a module and its imports: (level, module, names), None for the names of ``import``.

    Parsing all modules takes seconds, so the result is cached on disk, keyed by the bytes of the file.
    """
    try:
        source = file.read_bytes()
    except OSError as error:
        raise UnknownEstimatorError(f"{file}: {error}") from None
    return remembered(source, lambda: _digest_and_imports(_parse_unshared(file)))


def remembered(key: bytes, find: Callable[[], Any]) -> Any:
    """The result of `find()`, cached by `key`; `keep_facts` writes the cache."""
    digest = hashlib.sha256(FORMAT + PYTHON + key).hexdigest()
    kept = _facts_by_source()
    if digest not in kept:
        kept[digest] = find()
        _unwritten.add(digest)
    return kept[digest]


def _digest_and_imports(tree: ast.Module) -> dict:
    """The digest and the imports of a module; the docstrings of `tree` are removed."""
    imports = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [(0, alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.level, node.module or "", [alias.name for alias in node.names]))
        elif isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return {"digest": hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:12], "imports": imports}


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Syntax trees depend on Python's version; raise the other number when `_digest_and_imports` changes.
PYTHON, FORMAT = sys.version.encode(), b"1"
KEPT = Path(".snakemake", "entrolab", "modules.json")
_unwritten: set[str] = set()


@cache
def _facts_by_source() -> dict[str, Any]:
    try:
        return dict(json.loads(KEPT.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # missing or truncated
        return {}


def keep_facts() -> None:
    """Write the cache of facts on modules for the next start, if that is possible."""
    if not _unwritten or not KEPT.parents[1].is_dir():
        return
    with suppress(OSError):
        KEPT.parent.mkdir(exist_ok=True)
        with replacing(KEPT) as temporary:
            Path(temporary).write_text(json.dumps(_facts_by_source()), encoding="utf-8")
        _unwritten.clear()


@cache
def _names(module: str, file: Path) -> tuple[dict, bool]:
    """The names of a module (class or function, (module, name) of an import, or None), and whether running it
    could define more."""
    names: dict = {}
    open_ended = False
    for node in _top_level(_parse(file)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names[node.name] = node
            open_ended |= node.name == "__getattr__" and not _lazy_table(module, file)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(module, file, node.level, node.module or "")
            for alias in node.names:
                open_ended |= alias.name == "*"
                names[alias.asname or alias.name] = (source, alias.name)
        else:
            names |= {target.id: None for target, _ in _assigned(node) if isinstance(target, ast.Name)}
    names |= {name: (source, name) for name, source in _lazy_table(module, file).items()}
    return names, open_ended


def _lazy_table(module: str, file: Path) -> dict[str, str]:
    """The public name -> module table from which a package's ``__getattr__`` imports on first use."""
    if file.name != "__init__.py":
        return {}
    for node in _parse(file).body:
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(value, ast.Dict):
            try:
                table = ast.literal_eval(value)
            except ValueError:
                continue
            full = {name: _resolve(module, str(source)) for name, source in table.items()}
            if any(_module_file(source) for source in full.values()):
                return full
    return {}


def _resolve(package: str, source: str) -> str:
    """The full name of a module that a package names as ``.a.b``, ``a.b`` (in the package), or in full."""
    if source.startswith("."):
        return importlib.util.resolve_name(source, package)
    return source if source.startswith(f"{package}.") else f"{package}.{source}"


@cache
def _imported(module: str, file: Path) -> tuple[str, ...]:
    """The modules that a module imports, at any place in it."""
    found = []
    for level, imported, names in _facts(file)["imports"]:
        if names is None:
            found.append(imported)
            continue
        source = _absolute(module, file, level, imported)
        for name in names:
            whole = f"{source}.{name}"
            found.append(whole if _module_file(whole) else _home(source, name))
    return tuple(found)


def _home(module: str, name: str) -> str:
    """The module that defines a name: the ``__init__`` of our packages only re-export."""
    file = _module_file(module)
    if file is None or file.name != "__init__.py" or module.partition(".")[0] not in OURS:
        return module
    source = _names(module, file)[0].get(name)
    return _home(*source) if isinstance(source, tuple) and source[0] != module else module


def _absolute(module: str, file: Path, level: int, imported: str) -> str:
    """The full name of an imported module."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    try:
        return importlib.util.resolve_name("." * level + imported, package) if level else imported
    except ImportError:
        raise UnknownEstimatorError(
            f"{file}: relative import of {'.' * level + imported!r} without a package; accepted: a full name"
        ) from None


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that run on import, including those under ``if``, ``try`` and ``with``."""
    todo = list(tree.body)
    while todo:
        node = todo.pop(0)
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.TryStar, ast.With)):
            todo += [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
            todo += [item for handler in getattr(node, "handlers", []) for item in handler.body]


@cache
def _parse(file: Path) -> ast.Module:
    return _parse_unshared(file)


def _parse_unshared(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes())
    except SyntaxError as error:
        raise UnknownEstimatorError(f"{file}: line {error.lineno}: {error.msg}") from None
    except (OSError, ValueError) as error:
        raise UnknownEstimatorError(f"{file}: {error}") from None


@cache
def _module_file(module: str) -> Path | None:
    """The file of a module, searched in the file system; `find_spec` would import the parent packages."""
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin in ("built-in", "frozen"):
        return None
    if not rest:
        return Path(spec.origin) if spec.origin else None
    for folder in spec.submodule_search_locations or ():
        place = Path(folder, *rest)
        candidates = (
            place / "__init__.py",
            place.with_suffix(".py"),
            *place.parent.glob(f"{place.name}.*.so"),
        )
        if found := next((file for file in candidates if file.is_file()), None):
            return found
    return None


@cache
def _under_development(module: str, file: Path) -> bool:
    return module.partition(".")[0] in OURS or _is_users_own(file)


def _is_users_own(file: Path) -> bool:
    installed = file.is_relative_to(STANDARD_LIBRARY) or not OF_PACKAGES.isdisjoint(file.parts)
    return file.suffix == ".py" and not installed
