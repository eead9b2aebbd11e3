"""Parameter validation, borrowed from scikit-learn.

scikit-learn keeps this machinery private; the whole package gets it from here, so that a change of
scikit-learn's touches one file.
"""

from sklearn.base import _fit_context as validated
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import _check_partial_fit_first_call as learn_classes

__all__ = ["HasMethods", "Interval", "StrOptions", "learn_classes", "validated"]
