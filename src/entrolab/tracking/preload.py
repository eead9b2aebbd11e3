"""What jobs that track import late, and MLflow's map of all packages, for the server that forks them."""

import alembic.command  # noqa: F401
import git  # noqa: F401
import mlflow.pyfunc
import mlflow.sklearn  # noqa: F401
import pyarrow.dataset
import pyarrow.parquet  # noqa: F401
import skops.io  # noqa: F401
from mlflow.utils.requirements_utils import warn_dependency_requirement_mismatches

import entrolearn.machines.eem  # noqa: F401

warn_dependency_requirement_mismatches(["numpy"])
