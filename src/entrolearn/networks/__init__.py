"""Networks that learn by information theory: softmax and perceptrons."""

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
