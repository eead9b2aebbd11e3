"""MLflow and its map of all packages, which takes a second: for the server that forks tracking jobs."""

import mlflow.pyfunc
import mlflow.sklearn  # noqa: F401
from mlflow.utils.requirements_utils import warn_dependency_requirement_mismatches

warn_dependency_requirement_mismatches(["numpy"])
