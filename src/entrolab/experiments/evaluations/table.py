"""The table type that the figure of evaluations is drawn from."""

from entrolab.tables.measured import Measured as Evaluations

__all__ = ["Evaluations"]
