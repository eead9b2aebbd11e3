"""Registry of figure types by their names in studies."""

from entrolab.figures.base import FigureType
from entrolab.figures.by_fold import Residuals, Roc
from entrolab.figures.confusion_matrix import ConfusionMatrix
from entrolab.figures.critical_difference import CriticalDifference
from entrolab.figures.grid_curves import GridCurves
from entrolab.figures.grid_surface import GridSurface
from entrolab.figures.process import Process
from entrolab.figures.projections import Projections
from entrolab.figures.script import Script

FIGURE_TYPES: dict[str, type[FigureType]] = {
    "process": Process,
    "grid_curves": GridCurves,
    "grid_surface": GridSurface,
    "projections": Projections,
    "critical_difference": CriticalDifference,
    "confusion_matrix": ConfusionMatrix,
    "roc": Roc,
    "residuals": Residuals,
    "script": Script,
}
