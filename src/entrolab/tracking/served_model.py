"""How MLflow serves a logged model; a copy of this file is in the ``code`` folder of each model.

It imports nothing of entrolab, which the process that serves a model need not have.
"""

import mlflow
import numpy as np
import pandas as pd
from mlflow.exceptions import MlflowException
from sklearn.base import BaseEstimator

RESPONSES = ("predict", "predict_proba", "decision_function")


class ServedModel:
    """A fitted estimator that names a caller's mistake, which MLflow's server answers with the status 400.

    MLflow's own wrapper of an estimator has no parameters, and its server answers any other exception with
    "unexpected error" and a traceback.
    """

    def __init__(self, fitted: BaseEstimator):
        self.fitted = fitted

    def get_raw_model(self) -> BaseEstimator:
        """The estimator, for ``get_raw_model`` of pyfunc."""
        return self.fitted

    def predict(self, data, params: dict | None = None):
        """The predictions of some rows, or their probabilities as a data frame with a column per class."""
        response = (params or {}).get("response_method", "predict")
        accepted = [name for name in RESPONSES if hasattr(self.fitted, name)]
        if response not in accepted:
            raise MlflowException.invalid_parameter_value(
                f"response_method: found {response!r}; accepted: {', '.join(accepted)}"
            )
        try:
            if isinstance(data, dict):  # of "inputs" or "instances", whose values the server puts into arrays
                data = pd.DataFrame(
                    {name: [np.asarray(value).item() for value in values] for name, values in data.items()}
                )
            found = getattr(self.fitted, response)(data)
        except (TypeError, ValueError) as error:
            raise MlflowException.invalid_parameter_value(str(error)) from error
        if response == "predict_proba":
            return pd.DataFrame(found, columns=list(map(str, self.fitted.classes_)))
        return found


def _load_pyfunc(path: str) -> ServedModel:
    """The logged model in a folder, as ``mlflow.pyfunc.load_model`` asks for it."""
    return ServedModel(mlflow.sklearn.load_model(path))
