"""Read fitted models from files: skops files, which run no code, and pickles of studies that ask for them."""

import importlib
import json
import os
import sys
import zipfile
from collections.abc import Collection, Iterator, Sequence
from inspect import isclass
from pathlib import Path
from typing import BinaryIO

from sklearn.base import BaseEstimator

import entrolearn
from entrolab.io.records import read_json
from entrolab.text import Unreadable, damaged

# skops is imported in functions, because it imports all of scikit-learn, which takes a second or more.

#: Classes in fitted estimators of entrolearn, scikit-learn and LightGBM that skops does not trust by default.
#: No package is trusted as a whole, because it may have a class that executes a string.
TRUSTED_CLASSES = frozenset(
    {
        "collections.OrderedDict",
        "entrolearn.columns.ColumnEncoder",
        "entrolearn.columns.LabelEncodedClassifier",
        "entrolearn.machines.layers.LandmarkLayer",
        "entrolearn.machines.layers.NystromLayer",
        "entrolearn.machines.layers.RandomLayer",
        "entrolearn.machines.moments.ClassMoments",
        "entrolearn.machines.readouts.ClassGaussians",
        "entrolearn.machines.ridge.NormalEquations",
        "entrolearn.machines.sums.GroupSums",
        "entrolearn.manifold.densities.ClassDensities",
        "entrolearn.optimize.cross_entropy.CrossEntropyIteration",
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn._loss.loss.HalfTweedieLossIdentity",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.multiclass._ConstantPredictor",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
)
#: Score functions of scikit-learn's feature selection, as in SelectKBest. A file may name them, but not call
#: them.
TRUSTED_FUNCTIONS = frozenset(
    {
        "sklearn.feature_selection._mutual_info.mutual_info_classif",
        "sklearn.feature_selection._mutual_info.mutual_info_regression",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.feature_selection._univariate_selection.f_regression",
        "sklearn.feature_selection._univariate_selection.r_regression",
    }
)
# Maximum factor by which a file may expand; our own files are not compressed.
MOST_EXPANDED = 20


#: The formats of a study's models, each with the suffix of its files.
MODEL_FORMATS = {"skops": ".skops", "cloudpickle": ".pkl"}


class Refused(Unreadable):
    """Raised for a model that contains types that are not trusted, or is a pickle that nobody asked for."""


class NoModel(Unreadable):
    """Raised with the reason for a run without a refitted model."""


def load_fitted(
    folder: str | os.PathLike, criterion: str, named: Sequence[str], model_format: str
) -> tuple[BaseEstimator, str, list[str]]:
    """Read the model that a criterion selected: the model, its format, and its types that skops has to trust.

    `folder` is that of a run's models, `model_format` the study's, without which no pickle is opened; for
    `named` see :func:`trusted_types`. `NoModel` is raised if there is no model, `Refused` if it may not be
    loaded, `Unreadable` if its file is damaged.
    """
    facts = read_json(Path(folder, f"{criterion}.json"))
    if "error" in facts:
        raise NoModel(facts["error"])
    stored_as = facts["format"]
    if stored_as not in {"skops", model_format}:
        raise Refused(
            f"{folder}: the model by {criterion} is stored by {stored_as}, and loading it runs code in it; "
            "accepted: skops, and cloudpickle if the study has `model_format: cloudpickle`"
        )
    path = Path(folder, f"{criterion}{MODEL_FORMATS[stored_as]}")
    if not path.exists():
        raise NoModel(f"there is no file {path}")
    types = trusted_types(path, named, facts["types"]) if stored_as == "skops" else []
    return _load(path, stored_as, types), stored_as, types


def load(path: str | os.PathLike, named: Sequence[str], stored: Collection[str] = ()) -> BaseEstimator:
    """Read a fitted estimator from a file, see :func:`trusted_types`.

    `Unreadable` is raised if the file is incomplete or expands to many times its size, `Refused` if it
    contains types that are not trusted.
    """
    return _load(path, "skops", trusted_types(path, named, stored))


def _load(path: str | os.PathLike, stored_as: str, types: list[str]) -> BaseEstimator:
    try:
        if stored_as == "skops":
            import skops.io

            return skops.io.load(path, trusted=types)
        import cloudpickle

        return cloudpickle.loads(Path(path).read_bytes())
    except Exception as error:  # a damaged file, or code in a pickle, may raise any exception
        raise damaged(path, "model", error) from error


def trusted_types(
    path: str | os.PathLike | BinaryIO, named: Sequence[str], stored: Collection[str] = ()
) -> list[str]:
    """The types in a file that have to be trusted to load it.

    Trusted are the estimators of entrolearn, `TRUSTED_CLASSES`, `TRUSTED_FUNCTIONS`, and, from the packages
    of `named`, estimators and the types in `stored`. Only classes are called with the contents of a file.
    `named` are the import paths of the estimators in the study's entry of the model, whose modules training
    has imported; `stored` are the types in the model when it was stored on this machine.
    """
    import skops.io

    try:
        _check_expansion(path)
        found = skops.io.get_untrusted_types(file=path)
        called = set(_called(path))
    except Exception as error:  # as above
        raise damaged(path, "model", error) from error
    of_study = {name.partition(".")[0] for name in named} - {"sklearn", "entrolearn"}
    for name in named:
        if name.partition(".")[0] in of_study:
            importlib.import_module(name.rpartition(".")[0])
    public = entrolearn._MODULES | entrolearn._IN_SUBPACKAGES
    for name in found:
        module = public.get(name.rpartition(".")[2])
        if module and name.startswith("entrolearn."):
            importlib.import_module(module)
    of_stored = TRUSTED_FUNCTIONS | {name for name in stored if name.partition(".")[0] in of_study}
    refused = [
        name
        for name in found
        if name not in TRUSTED_CLASSES
        and not _is_estimator(name, {"entrolearn", *of_study})
        and (name not in of_stored or (name in called and not isclass(_imported(name))))
    ]
    if refused:
        raise Refused(
            f"{path}: the model contains {', '.join(refused)}, so it is neither loaded nor stored; accepted: "
            f"estimators of {', '.join(sorted({'entrolearn', 'sklearn', *of_study}))} and the types in them"
        )
    return found


def _check_expansion(path: str | os.PathLike | BinaryIO) -> None:
    with zipfile.ZipFile(path) as archive:
        expanded = sum(member.file_size for member in archive.infolist())
        size = archive.fp.seek(0, os.SEEK_END)
    if expanded > MOST_EXPANDED * size:
        raise ValueError(f"the file expands to {expanded:,} bytes, more than {MOST_EXPANDED} times its size")


def _called(path: str | os.PathLike | BinaryIO) -> Iterator[str]:
    """Yield the callables that loading the file would call with arguments from the file."""
    with zipfile.ZipFile(path) as archive:
        waiting = [json.loads(archive.read("schema.json"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node.get("__loader__") == "ConstructorFromReduceNode" or "__reduce__" in node:
                yield f"{node['__module__']}.{node['__class__']}"
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _imported(name: str):
    """The object at an import path if its module is imported, or None."""
    module, _, own_name = name.rpartition(".")
    return getattr(sys.modules.get(module), own_name, None)


def _is_estimator(name: str, packages: Collection[str]) -> bool:
    """Whether an import path is that of an estimator class defined in one of some packages."""
    found = _imported(name)
    own = isclass(found) and found.__module__.partition(".")[0] in packages
    return own and hasattr(found, "fit") and hasattr(found, "get_params")
