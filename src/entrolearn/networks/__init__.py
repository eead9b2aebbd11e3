"""Networks whose weights maximise information, or minimise the entropy or the size of their errors."""

from entrolearn.networks.error_entropy import ErrorEntropyMLPClassifier, ErrorEntropyMLPRegressor
from entrolearn.networks.mse import MSEMLPClassifier, MSEMLPRegressor
from entrolearn.networks.softmax import SoftmaxRegression

__all__ = [
    "ErrorEntropyMLPClassifier",
    "ErrorEntropyMLPRegressor",
    "MSEMLPClassifier",
    "MSEMLPRegressor",
    "SoftmaxRegression",
]
