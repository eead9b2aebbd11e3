"""What the classifiers of this family share: labels to numbers, a real output back to labels."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["Machine", "class_targets", "decide", "encode"]


class Machine(ClassifierMixin, BaseEstimator):
    """A classifier that decides by its ``decision_function`` and takes dense and CSR rows."""

    def predict(self, X):
        """The class of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        output = self.decision_function(X)
        return decide(output, self.classes_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def encode(y, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of `y`, and the place among them of each row's.

    Raises
    ------
    ValueError
        If y does not hold class labels, or those of one class only; `name` is who says so.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least two classes, "
            f"but the data contains only one class: {classes.tolist()[0]!r}."
        )
    return classes, codes


def class_targets(n_classes: int) -> np.ndarray:
    """The target of each class: ±1 in one column for two classes, in one column each for more."""
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    return 2 * np.eye(n_classes) - 1


def decide(output: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The label by the sign of one output, or by the largest of several."""
    return classes[(output > 0).astype(int) if output.ndim == 1 else output.argmax(axis=1)]
