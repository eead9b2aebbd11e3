"""Base class of classifiers that implement joint log-probabilities of the rows and classes."""

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = ["LogJointClassifier"]


class LogJointClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers with the softmax of joint log densities, or of linear outputs.

    Subclasses implement ``_log_joint(X)``: for each row and class the logarithm of the probability, up to a
    constant for each row, shape (n_samples, n_classes).
    """

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        joint = self._log_joint(X)
        return self.classes_[joint.argmax(axis=1)]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Each row adds up to one, even if all densities underflow.
        """
        return softmax(self._log_joint(X), axis=1)

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities, finite even if the probabilities underflow.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        return log_softmax(self._log_joint(X), axis=1)

    def decision_function(self, X) -> np.ndarray:
        """Log odds of the second class, or logarithms for more than two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        score : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Two classes: the log odds of ``classes_[1]``, positive where it is predicted. More classes: the
            logarithm of each class, up to a constant for each row; the largest is predicted.
        """
        joint = self._log_joint(X)
        return joint[:, 1] - joint[:, 0] if len(self.classes_) == 2 else joint
