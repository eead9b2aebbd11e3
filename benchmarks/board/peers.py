"""Learners of other libraries with scikit-learn's interface, if their own interface is not sufficient.

They import their library when they are fitted; `make board-env` installs it.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split

VALIDATED = 0.2  # share of the training rows with which xRFM chooses its iteration, as in its README


class _XRFM(BaseEstimator):
    """xRFM with its own defaults, in single precision on one thread; `reg` is the ridge."""

    def __init__(self, kernel="l2_high_dim", bandwidth=10.0, exponent=1.0, reg=1e-3, iters=5, random_state=0):
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.exponent = exponent
        self.reg = reg
        self.iters = iters
        self.random_state = random_state

    def _fit(self, X, targets, stratify=None):
        import torch
        from xrfm import xRFM

        torch.set_num_threads(1)
        kept, held_out = train_test_split(
            np.arange(len(X)), test_size=VALIDATED, random_state=self.random_state, stratify=stratify
        )
        rows = self._rows(X)
        of_model = {name: getattr(self, name) for name in ("kernel", "bandwidth", "exponent")}
        of_fit = {"reg": self.reg, "iters": self.iters, "early_stop_rfm": False, "return_best_params": True}
        self.model_ = xRFM(
            rfm_params={
                "model": {**of_model, "diag": False, "bandwidth_mode": "constant"},
                "fit": {**of_fit, "get_agop_best_model": True},
            },
            device=torch.device("cpu"),
            random_state=self.random_state,
            n_threads=1,
            verbose=False,
        )
        self.model_.fit(rows[kept], targets[kept], rows[held_out], targets[held_out])
        return self

    def _rows(self, X):
        import torch

        return torch.as_tensor(np.asarray(X), dtype=torch.float32)


class XRFMClassifier(ClassifierMixin, _XRFM):
    """xRFM as a classifier; a fifth of each class's training rows is held out to choose the iteration."""

    def fit(self, X, y):
        import torch

        self.classes_, codes = np.unique(y, return_inverse=True)
        return self._fit(X, torch.as_tensor(codes), stratify=codes)

    def predict_proba(self, X):
        return np.asarray(self.model_.predict_proba(self._rows(X)), dtype=float)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class XRFMRegressor(RegressorMixin, _XRFM):
    """xRFM as a regressor."""

    def fit(self, X, y):
        import torch

        return self._fit(X, torch.as_tensor(np.asarray(y), dtype=torch.float32))

    def predict(self, X):
        return np.asarray(self.model_.predict(self._rows(X)), dtype=float).ravel()
