"""The runs of studies in MLflow: the only package that imports mlflow."""

import os

# MLflow reads these on import: no telemetry, no installation id in the home folder, no messages per run and
# migration, and a timeout of half a minute instead of four for a server that does not respond.
os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "4")
