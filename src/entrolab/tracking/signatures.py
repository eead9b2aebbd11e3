"""Signatures of logged models."""

import numpy as np
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, DataType, Schema, TensorSpec
from mlflow.types.schema import AnyType
from mlflow.types.utils import clean_tensor_type
from sklearn.base import BaseEstimator, is_regressor
from sklearn.pipeline import Pipeline

from entrolab.data.user_columns import reads
from entrolearn.columns import DATE, ColumnEncoder, days, number


def signature_of(fitted: BaseEstimator) -> ModelSignature | None:
    """The signature of a model: the columns of a user's table by name, or rows of numbers.

    Columns of text are declared as strings, all others as any type: MLflow refuses integers for a column
    declared as double, and a column of integers becomes double with its first missing value.
    """
    answers = np.zeros(0) if is_regressor(fitted) else getattr(fitted, "classes_", None)
    outputs = None if answers is None else Schema([TensorSpec(clean_tensor_type(answers.dtype), (-1,))])
    if isinstance(fitted, Pipeline) and isinstance(fitted[0], ColumnEncoder):
        kinds = fitted[0].columns
        inputs = [
            ColSpec(AnyType() if _is_any(kind) else DataType.string, name) for name, kind in kinds.items()
        ]
        return ModelSignature(Schema(inputs), outputs)
    n_features = getattr(fitted, "n_features_in_", None)
    if n_features is None:
        return None
    return ModelSignature(Schema([TensorSpec(np.dtype(float), (-1, n_features))]), outputs)


def _is_any(kind) -> bool:
    """Whether a column may contain other values than text: numbers, truth values or dates."""
    return kind is None or kind == DATE or any(reads(number, name) or reads(days, name) for name in kind)
