"""Networks that maximise information, or minimise the entropy or the mean square of their errors."""

from entrolearn.networks.amari import amari_index
from entrolearn.networks.error_entropy import ErrorEntropyMLPClassifier, ErrorEntropyMLPRegressor
from entrolearn.networks.ica import InfomaxICA
from entrolearn.networks.infomax import LinearInfomax
from entrolearn.networks.mse import MSEMLPClassifier, MSEMLPRegressor
from entrolearn.networks.softmax import SoftmaxRegression
from entrolearn.networks.views import CoherentFeatures, IncoherentFeatures

__all__ = [
    "CoherentFeatures",
    "ErrorEntropyMLPClassifier",
    "ErrorEntropyMLPRegressor",
    "IncoherentFeatures",
    "InfomaxICA",
    "LinearInfomax",
    "MSEMLPClassifier",
    "MSEMLPRegressor",
    "SoftmaxRegression",
    "amari_index",
]
