"""Registry of figure types by their names in studies."""

from entrolab.experiments.clusterings.figure import Clusterings
from entrolab.experiments.density.figure import Density
from entrolab.experiments.evaluations.figure import Evaluations
from entrolab.experiments.starts.expected_maximum import ExpectedMaximum
from entrolab.experiments.starts.figure import Starts
from entrolab.figure_types.base import FigureType
from entrolab.figure_types.by_data import ByData
from entrolab.figure_types.calibration import Calibration
from entrolab.figure_types.confusion_matrix import ConfusionMatrix
from entrolab.figure_types.critical_difference import CriticalDifference
from entrolab.figure_types.error_densities import ErrorDensities
from entrolab.figure_types.grid_curves import GridCurves
from entrolab.figure_types.grid_surface import GridSurface
from entrolab.figure_types.loss_curves import LossCurves
from entrolab.figure_types.precision_recall import PrecisionRecall
from entrolab.figure_types.process import Process
from entrolab.figure_types.projections import Projections
from entrolab.figure_types.residuals import Residuals
from entrolab.figure_types.roc import Roc
from entrolab.figure_types.samples import Samples
from entrolab.figure_types.support import Support
from entrolab.figure_types.tradeoff import Tradeoff
from entrolab.figure_types.trials import Trials
from entrolab.figure_types.weights import Weights

FIGURE_TYPES: dict[str, FigureType] = {
    "process": Process(),
    "grid_curves": GridCurves(),
    "grid_surface": GridSurface(),
    "trials": Trials(),
    "density": Density(),
    "support": Support(),
    "tradeoff": Tradeoff(),
    "by_data": ByData(),
    "projections": Projections(),
    "starts": Starts(),
    "expected_maximum": ExpectedMaximum(),
    "evaluations": Evaluations(),
    "samples": Samples(),
    "weights": Weights(),
    "clusterings": Clusterings(),
    "error_densities": ErrorDensities(),
    "loss_curves": LossCurves(),
    "critical_difference": CriticalDifference(),
    "confusion_matrix": ConfusionMatrix(),
    "roc": Roc(),
    "precision_recall": PrecisionRecall(),
    "calibration": Calibration(),
    "residuals": Residuals(),
}
