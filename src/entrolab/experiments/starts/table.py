"""The table type that the figure of starts is drawn from."""

from entrolab.tables.measured import Measured as Starts

__all__ = ["Starts"]
