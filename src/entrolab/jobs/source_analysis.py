"""What can be known of a learner from its source, without importing it.

The workflow asks about every learner of every study before a job starts: does it exist, does it take these
parameters, which files would change its results? Importing scikit-learn alone takes longer than all of that.
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
from functools import cache
from pathlib import Path
from typing import Any

from entrolab.io.atomic import replacing
from entrolearn.suggest import did_you_mean

# Where Python's own modules are, and what folders of installed packages are called: an environment may see
# those of others too, of the system or of the user.
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
OF_PACKAGES = {"site-packages", "dist-packages"}
# The packages of this repository.
OURS = {"entrolearn", "entrolab"}


class UnknownEstimatorError(ValueError):
    """No such class, or no such parameter of it."""


@dataclass(frozen=True)
class Definition:
    """Where a class is defined, and the parameters it takes (None where the source does not say)."""

    module: str
    parameters: tuple[str, ...] | None


def locate(import_path: str) -> Definition:
    """Find the class behind an import path without importing anything.

    Raises
    ------
    UnknownEstimatorError
        With what was meant, where that can be guessed. A class that only running code could find (a star
        import, a module's ``__getattr__``) is given the benefit of the doubt.
    """
    module, _, name = import_path.rpartition(".")
    package, _, inside = module.partition(".")
    if not _is_installed(package):
        hint = did_you_mean(package, (found.name for found in pkgutil.iter_modules()))
        raise UnknownEstimatorError(
            f"{import_path!r}: no package {package!r} is installed, nor a file of that name{hint}"
        )
    if _module_file(module) is None:
        hint = did_you_mean(inside, _modules_in(package))
        raise UnknownEstimatorError(f"{import_path!r}: no module {inside!r} in {package}{hint}")
    if _module_file(import_path) is not None:
        raise UnknownEstimatorError(f"{import_path!r} is a module; accepted: a class in it")
    return _definition(module, name, import_path)


def check_parameters(import_path: str, names, *, what: str) -> None:
    """Refuse the first of `names` that the class does not take."""
    accepted = locate(import_path).parameters
    if accepted is None:
        return
    for name in names:
        if name not in accepted:
            # As scikit-learn's pipelines and searches write it.
            of_step = "; a parameter of a step begins with step1__, step2__ …" if "__" in name else ""
            raise UnknownEstimatorError(
                f"{import_path} has no parameter {name!r} ({what})"
                f"{did_you_mean(name, accepted)}; accepted: {', '.join(accepted)}{of_step}"
            )


# What is called of a learner, and of a step before it.
LEARNER, STEP = ("fit", "predict"), ("fit", "transform")
CALLED = ("get_params", "set_params")


def check_manners(import_path: str, methods: tuple[str, ...]) -> None:
    """Refuse what is no estimator of scikit-learn's manners, as far as its source tells."""
    inherited = f"{CALLED[0]}, which sklearn.base.BaseEstimator gives"
    accepted = f"accepted: a class with {', '.join(methods)} and {inherited}"
    if _is_function(import_path):
        raise UnknownEstimatorError(f"{import_path!r} is a function; {accepted}")
    classes, complete = _ancestry(import_path)
    defined = {name for node in classes for name in _attributes(node)}
    if complete and (missing := [name for name in (*methods, *CALLED) if name not in defined]):
        raise UnknownEstimatorError(f"{import_path!r} has no {missing[0]}; {accepted}")
    if classes and _is_users_own(_module_file(locate(import_path).module)):
        _check_constructor(import_path, classes[0])


def check_kind(import_path: str, dataset: str, task: str) -> None:
    """Refuse a classifier that is to learn values, and a regressor that is to learn classes."""
    names = {node.name for node in _ancestry(import_path)[0]}
    wrong, right = ("classifier", "regressor") if task == "regression" else ("regressor", "classifier")
    mixins = {kind: f"{kind.capitalize()}Mixin" in names for kind in (wrong, right)}
    if mixins[wrong] and not mixins[right]:
        raise UnknownEstimatorError(
            f"{import_path!r} is a {wrong}, and the task of {dataset!r} is {task}; accepted: a {right}, or "
            "`estimators` with one for classification and one for regression"
        )


def _check_constructor(import_path: str, node: ast.ClassDef) -> None:
    """Refuse a constructor that does other than keep its arguments, which is what copies are made by."""
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name != "__init__":
            continue
        if item.args.vararg or item.args.kwarg:
            raise UnknownEstimatorError(
                f"{import_path!r}: __init__ takes * or ** arguments; accepted: parameters by their names"
            )
        kept = {line for statement in item.body if (line := _kept(statement))}
        hands_on = "super" in {name.id for name in ast.walk(item) if isinstance(name, ast.Name)}
        for argument in () if hands_on else [*item.args.args[1:], *item.args.kwonlyargs]:
            if argument.arg not in kept:
                raise UnknownEstimatorError(
                    f"{import_path!r}: __init__ does not keep {argument.arg} as it comes; accepted: "
                    f"self.{argument.arg} = {argument.arg}, by which scikit-learn copies a learner"
                )


def _kept(statement: ast.stmt) -> str | None:
    """The argument that a statement stores under its own name, unchanged."""
    match statement:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)], value=ast.Name(id=argument)
        ) if attribute == argument:
            return argument
    return None


def _is_function(import_path: str) -> bool:
    module, _, name = import_path.rpartition(".")
    file = _module_file(module)
    if file is None or file.suffix != ".py":
        return False
    source = _names(module, file)[0].get(name)
    if isinstance(source, tuple) and source[0] != module:
        return _is_function(".".join(source))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in _parse(file).body)


def _ancestry(import_path: str) -> tuple[list[ast.ClassDef], bool]:
    """A class and all that it inherits from, as far as source shows; and whether it shows all of them."""
    module, _, name = import_path.rpartition(".")
    found = _class_of(module, name)
    if found is None:
        return [], False
    module, node = found
    classes, complete = [node], True
    for base in node.bases:
        named = isinstance(base, ast.Name)
        if named and base.id == "object":
            continue
        inherited, whole = _ancestry(f"{module}.{base.id}") if named else ([], False)
        classes += inherited
        complete &= whole
    return classes, complete and not node.decorator_list


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """What a class defines: functions, and names that it gives to values."""
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            yield item.name
        elif isinstance(item, ast.Assign):
            yield from (target.id for target in item.targets if isinstance(target, ast.Name))


def _modules_in(package: str) -> list[str]:
    """The modules directly in a package."""
    spec = importlib.util.find_spec(package)
    return [found.name for found in pkgutil.iter_modules(spec.submodule_search_locations or [])]


def check_imports(import_path: str) -> None:
    """Refuse a class of a user's own module that imports what is not installed, there or in another of these.

    What is imported under ``try`` or ``if`` may be absent.
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
    except ValueError:  # the name of a program that has no file of its own
        return False


def documentation(import_path: str) -> str:
    """The docstring of the class behind an import path; empty where only running code could find it."""
    module, _, name = import_path.rpartition(".")
    found = _class_of(module, name)
    return (ast.get_docstring(found[1]) or "") if found else ""


def _class_of(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    """The module that defines a class, and the definition; None where only running code could find it."""
    file = _module_file(module)
    if file is None or file.suffix != ".py":
        return None
    target = _names(module, file)[0].get(name)
    if isinstance(target, tuple) and target[0] != module:
        return _class_of(*target)
    return (module, target) if isinstance(target, ast.ClassDef) else None


def source_digests(*import_paths: str) -> dict[str, str]:
    """A digest of each module behind some classes or modules, so that a change of code can be noticed.

    Follows imports within entrolearn, entrolab and packages that are not installed into the environment's
    library folder; the lock file covers the others. The ``__init__`` of our packages hand names on and are
    skipped: what is imported from one depends on the module that defines it. Comments, docstrings and layout
    do not count.

    Raises
    ------
    UnknownEstimatorError
        If a module cannot be read, or has a relative import without a package.

    Returns
    -------
    dict
        Module name -> the first digits of its syntax tree's sha256.
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
    _keep_facts()
    return dict(sorted(digests.items()))


@cache
def _facts(file: Path) -> dict:
    """The digest of a module and what it imports: (level, module, names), None for names of ``import``.

    They are kept by the bytes of the file, so that they are never those of another state of it: to parse all
    modules takes seconds.
    """
    try:
        source = file.read_bytes()
    except OSError as error:
        raise UnknownEstimatorError(f"{file}: {error}") from None
    return remembered(source, lambda: _digest_and_imports(_parse_unshared(file)))


def remembered(key: bytes, find: Callable[[], Any]) -> Any:
    """What `find` returns, from an earlier start if `key` is the same; it is written by `source_digests`."""
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
# Syntax trees are of a version of Python; the other number is raised where `_digest_and_imports` changes.
PYTHON, FORMAT = sys.version.encode(), b"1"
# Where what modules hold is kept, beside Snakemake's own notes.
KEPT = Path(".snakemake", "entrolab", "modules.json")
_unwritten: set[str] = set()


@cache
def _facts_by_source() -> dict[str, Any]:
    try:
        return dict(json.loads(KEPT.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # none yet, or cut
        return {}


def _keep_facts() -> None:
    """Write what was read of modules for the next start; where that cannot be, it is read again."""
    if not _unwritten or not KEPT.parents[1].is_dir():
        return
    with suppress(OSError):
        KEPT.parent.mkdir(exist_ok=True)
        with replacing(KEPT) as temporary:
            Path(temporary).write_text(json.dumps(_facts_by_source()), encoding="utf-8")
    _unwritten.clear()


def _definition(module: str, name: str, import_path: str) -> Definition:
    file = _module_file(module)
    if file is None:
        raise UnknownEstimatorError(f"{import_path!r}: its module {module!r} does not exist")
    if file.suffix != ".py":
        return Definition(module, None)
    names, open_ended = _names(module, file)
    if name in names:
        target = names[name]
        if isinstance(target, ast.ClassDef):
            return Definition(module, _constructor_parameters(target, module, names))
        if target is None or target[0] == module:
            return Definition(module, None)
        return _definition(*target, import_path)
    if open_ended:
        return Definition(module, None)
    raise UnknownEstimatorError(f"{import_path!r}: no {name!r} in {module}{did_you_mean(name, names)}")


@cache
def _names(module: str, file: Path) -> tuple[dict, bool]:
    """What a module defines: name -> class node, (module, name) it comes from, or None; and whether
    running the module could define more."""
    names: dict = {}
    open_ended = False
    for node in _top_level(_parse(file)):
        if isinstance(node, ast.ClassDef):
            names[node.name] = node
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = None
            open_ended |= node.name == "__getattr__" and not _lazy_table(module, file)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(module, file, node.level, node.module or "")
            for alias in node.names:
                open_ended |= alias.name == "*"
                names[alias.asname or alias.name] = (source, alias.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id: None for target in node.targets if isinstance(target, ast.Name)}
    names |= {name: (source, name) for name, source in _lazy_table(module, file).items()}
    return names, open_ended


def _lazy_table(module: str, file: Path) -> dict[str, str]:
    """A package's public name -> module table, from which its ``__getattr__`` imports on first use."""
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
    """A module's full name from the way a package writes it: ``.a.b``, ``a.b`` of the package, or in full."""
    if source.startswith("."):
        return importlib.util.resolve_name(source, package)
    return source if source.startswith(f"{package}.") else f"{package}.{source}"


def _constructor_parameters(node: ast.ClassDef, module: str, names: dict) -> tuple[str, ...] | None:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            arguments = item.args
            if arguments.kwarg or arguments.vararg:
                return None
            accepted = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            return tuple(argument.arg for argument in accepted[1:])
    return _inherited_parameters(node, module, names)


def _inherited_parameters(node: ast.ClassDef, module: str, names: dict) -> tuple[str, ...] | None:
    """Those of the first base class that the source names and whose constructor it shows."""
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in names:
            parameters = _definition(module, base.id, f"{module}.{base.id}").parameters
            if parameters is not None:
                return parameters
    return None


@cache
def _imported(module: str, file: Path) -> tuple[str, ...]:
    """Modules that a module imports, wherever in it the import stands."""
    return tuple(_imports(module, file))


def _imports(module: str, file: Path) -> Iterator[str]:
    for level, imported, names in _facts(file)["imports"]:
        if names is None:
            yield imported
            continue
        source = _absolute(module, file, level, imported)
        for name in names:
            if _module_file(f"{source}.{name}"):
                yield f"{source}.{name}"
            else:
                yield _home(source, name)


def _home(module: str, name: str) -> str:
    """The module that a name is defined in: the ``__init__`` of our packages only hand names on."""
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
    """Statements that run on import, those under ``if`` and ``try`` included."""
    todo = list(tree.body)
    while todo:
        node = todo.pop(0)
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.TryStar)):
            todo += [*node.body, *node.orelse, *getattr(node, "finalbody", [])]
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
    """The file of a module, found in the file system: finding a submodule's spec would import its parents."""
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
