"""The table type that the figure of density is drawn from."""

from entrolab.tables.measured import Measured as Density

__all__ = ["Density"]
