"""Signatures of logged models, and how models are saved to be served."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import mlflow
import numpy as np
from mlflow.models import Model, ModelSignature
from mlflow.models.model import MLMODEL_FILE_NAME
from mlflow.types import DataType, ParamSchema, ParamSpec, Schema, TensorSpec
from mlflow.types.utils import clean_tensor_type
from sklearn.base import BaseEstimator, is_regressor
from sklearn.pipeline import Pipeline

from entrolearn.columns import ColumnEncoder

MODEL_REQUIREMENTS = ("entrolearn", "numpy", "scikit-learn", "scipy")  # and the package of the file's format
SERVED = Path(__file__).with_name("served_model.py")


def signature_of(fitted: BaseEstimator) -> ModelSignature:
    """The signature of a model: its inputs, if they are rows of numbers, its outputs and its parameter.

    The model of a table declares no inputs, because no type of MLflow 3.17 fits the columns of a csv file. A
    column declared as ``long`` is refused with a gap, and JSON cuts its fractions; as ``double``, text is
    refused, and so are integers in a frame for pyfunc; as ``string``, numbers in a frame are refused, and
    1.0 in a csv file is not the category 1; as any type, ``text/csv`` is refused. Without inputs, MLflow
    passes on what ``pandas.read_csv``, the JSON or the frame contains, whatever its dtypes; the model selects
    its columns and names those that are missing.

    The parameter ``response_method`` asks for another method than ``predict``.
    """
    inputs, n_features = None, getattr(fitted, "n_features_in_", None)
    if n_features is not None and not (isinstance(fitted, Pipeline) and isinstance(fitted[0], ColumnEncoder)):
        inputs = Schema([TensorSpec(np.dtype(float), (-1, n_features))])
    answers = np.zeros(0) if is_regressor(fitted) else getattr(fitted, "classes_", None)
    outputs = None if answers is None else Schema([TensorSpec(clean_tensor_type(answers.dtype), (-1,))])
    response = ParamSpec("response_method", DataType.string, "predict")
    return ModelSignature(inputs, outputs, ParamSchema([response]))


def save_model(
    fitted: BaseEstimator,
    path: str | os.PathLike,
    mlflow_model: Model,
    *,
    model_format: str = "skops",
    trusted_types: Sequence[str] = (),
) -> None:
    """Save a model with ``mlflow.sklearn``, to be served by :mod:`entrolab.tracking.served_model`.

    `mlflow.models.Model.log` takes this module as a flavor. `trusted_types` are those in the model that skops
    has to trust.
    """
    mlflow.sklearn.save_model(
        fitted,
        path,
        mlflow_model=mlflow_model,
        code_paths=[str(SERVED)],
        serialization_format=model_format,
        skops_trusted_types=list(trusted_types),
        signature=signature_of(fitted),
        # Stated explicitly, because inferring them takes seconds.
        pip_requirements=[f"{name}=={version(name)}" for name in (*MODEL_REQUIREMENTS, model_format)],
    )
    if mlflow.pyfunc.FLAVOR_NAME in mlflow_model.flavors:  # of an estimator with `predict`
        mlflow_model.flavors[mlflow.pyfunc.FLAVOR_NAME][mlflow.pyfunc.MAIN] = SERVED.stem
        mlflow_model.save(str(Path(path, MLMODEL_FILE_NAME)))
