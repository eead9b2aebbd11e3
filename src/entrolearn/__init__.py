"""Information-theoretic learners with scikit-learn's interface.

Most learners are imported from here, ``from entrolearn import EEMClassifier``; measures, streaming, plotting
and the other learners from their subpackages. A name's module is imported on first access, so that
``import entrolearn`` takes milliseconds and only loads what is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

# Module of each public name. The workflow reads this table without importing the package, to find the modules
# on which the results of a model depend; it must stay a plain literal.
_MODULES = {
    "EEMClassifier": "entrolearn.machines.eem",
    "EEKMClassifier": "entrolearn.machines.eem",
    "ELMClassifier": "entrolearn.machines.elm",
    "ELMRegressor": "entrolearn.machines.elm",
    "WELMClassifier": "entrolearn.machines.welm",
    "KELMClassifier": "entrolearn.machines.kelm",
    "KELMRegressor": "entrolearn.machines.kelm",
    "RKELMClassifier": "entrolearn.machines.rkelm",
    "RKELMRegressor": "entrolearn.machines.rkelm",
    "influence": "entrolearn.machines.leave_out",
    "LSSVC": "entrolearn.machines.lssvm",
    "LSSVR": "entrolearn.machines.lssvm",
    "RSVC": "entrolearn.machines.rsvm",
    "RSVR": "entrolearn.machines.rsvm",
    "OneNormSVC": "entrolearn.sparse_svm.one_norm",
    "OneNormSVR": "entrolearn.sparse_svm.one_norm",
    "CrossEntropySVC": "entrolearn.sparse_svm.cross_entropy",
    "CrossEntropySVR": "entrolearn.sparse_svm.cross_entropy",
    "KDEClassifier": "entrolearn.manifold.kde",
    "MELM": "entrolearn.manifold.melm",
    "MinimumEntropyClustering": "entrolearn.cluster.minimum_entropy",
    "RenyiEntropyClustering": "entrolearn.cluster.renyi",
    "CrossEntropyClustering": "entrolearn.cluster.cec",
    "KLClustering": "entrolearn.cluster.kl",
    "ErrorEntropyMLPClassifier": "entrolearn.networks.error_entropy",
    "ErrorEntropyMLPRegressor": "entrolearn.networks.error_entropy",
    "InfomaxICA": "entrolearn.networks.ica",
    "EntropySearch": "entrolearn.selection",
    "PathSearchCV": "entrolearn.search",
    "RecursiveFeatureClassifier": "entrolearn.feature_learning",
    "RecursiveFeatureRegressor": "entrolearn.feature_learning",
    "gmean_score": "entrolearn.metrics.gmean",
    "gmean_scorer": "entrolearn.metrics.gmean",
}

# Subpackage of each public name that is not at the top: learners of special tasks, or equal to a learner of
# scikit-learn, and functions.
_IN_SUBPACKAGES = {
    "SoftmaxRegression": "entrolearn.networks",
    "MSEMLPClassifier": "entrolearn.networks",
    "MSEMLPRegressor": "entrolearn.networks",
    "LinearInfomax": "entrolearn.networks",
    "CoherentFeatures": "entrolearn.networks",
    "IncoherentFeatures": "entrolearn.networks",
    "ClassPCA": "entrolearn.manifold",
    "TwoEllipsoidPCA": "entrolearn.manifold",
    "PerClassPCA": "entrolearn.manifold",
    "GEM": "entrolearn.manifold",
    "CrossEntropyMethodClustering": "entrolearn.cluster",
    "InformationFilter": "entrolearn.feature_selection",
    "information_scores": "entrolearn.metrics",
    "information_scorer": "entrolearn.metrics",
    "reject_least_certain": "entrolearn.metrics",
    "visual_separability": "entrolearn.metrics",
    "cross_entropy_method": "entrolearn.optimize",
    "Influence": "entrolearn.machines.leave_out",
    "MaxEntClassifier": "entrolearn.maxent",
    "MaximumEntropyDistribution": "entrolearn.maxent",
}

# The first table for editors and type checkers, which do not evaluate `__getattr__`.
if TYPE_CHECKING:
    from entrolearn.cluster.cec import CrossEntropyClustering as CrossEntropyClustering
    from entrolearn.cluster.kl import KLClustering as KLClustering
    from entrolearn.cluster.minimum_entropy import MinimumEntropyClustering as MinimumEntropyClustering
    from entrolearn.cluster.renyi import RenyiEntropyClustering as RenyiEntropyClustering
    from entrolearn.feature_learning import RecursiveFeatureClassifier as RecursiveFeatureClassifier
    from entrolearn.feature_learning import RecursiveFeatureRegressor as RecursiveFeatureRegressor
    from entrolearn.machines.eem import EEKMClassifier as EEKMClassifier
    from entrolearn.machines.eem import EEMClassifier as EEMClassifier
    from entrolearn.machines.elm import ELMClassifier as ELMClassifier
    from entrolearn.machines.elm import ELMRegressor as ELMRegressor
    from entrolearn.machines.kelm import KELMClassifier as KELMClassifier
    from entrolearn.machines.kelm import KELMRegressor as KELMRegressor
    from entrolearn.machines.leave_out import influence as influence
    from entrolearn.machines.lssvm import LSSVC as LSSVC
    from entrolearn.machines.lssvm import LSSVR as LSSVR
    from entrolearn.machines.rkelm import RKELMClassifier as RKELMClassifier
    from entrolearn.machines.rkelm import RKELMRegressor as RKELMRegressor
    from entrolearn.machines.rsvm import RSVC as RSVC
    from entrolearn.machines.rsvm import RSVR as RSVR
    from entrolearn.machines.welm import WELMClassifier as WELMClassifier
    from entrolearn.manifold.kde import KDEClassifier as KDEClassifier
    from entrolearn.manifold.melm import MELM as MELM
    from entrolearn.metrics.gmean import gmean_score as gmean_score
    from entrolearn.metrics.gmean import gmean_scorer as gmean_scorer
    from entrolearn.networks.error_entropy import ErrorEntropyMLPClassifier as ErrorEntropyMLPClassifier
    from entrolearn.networks.error_entropy import ErrorEntropyMLPRegressor as ErrorEntropyMLPRegressor
    from entrolearn.networks.ica import InfomaxICA as InfomaxICA
    from entrolearn.search import PathSearchCV as PathSearchCV
    from entrolearn.selection import EntropySearch as EntropySearch
    from entrolearn.sparse_svm.cross_entropy import CrossEntropySVC as CrossEntropySVC
    from entrolearn.sparse_svm.cross_entropy import CrossEntropySVR as CrossEntropySVR
    from entrolearn.sparse_svm.one_norm import OneNormSVC as OneNormSVC
    from entrolearn.sparse_svm.one_norm import OneNormSVR as OneNormSVR

__all__ = [*_MODULES]


def __getattr__(name: str):
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
        if hasattr(value, "_doc_link_module"):
            from entrolearn.documentation import page_template

            value._doc_link_module, value._doc_link_template = "entrolearn", page_template()
    elif name == "__version__":
        from importlib.metadata import version  # imported here because it is slower than the rest

        value = version(__name__)
    else:
        text = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=import_module(__name__))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
