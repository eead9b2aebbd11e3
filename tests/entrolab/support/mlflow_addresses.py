"""The variables in which MLflow leaves the store of one test to all later ones of the process."""

import pytest

VARIABLES = ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")


def restore_addresses(patch: pytest.MonkeyPatch) -> None:
    """Clear the addresses of MLflow's stores until `patch` is undone, whatever a test sets them to."""
    for name in VARIABLES:
        patch.setenv(name, "")
