"""Displays of models and results, with the interface of scikit-learn's displays.

A display stores the plotted data as arrays. ``from_estimator`` computes them from a fitted estimator;
``plot`` draws them on given or new axes and sets ``ax_`` (or ``axes_``) and ``figure_``; ``to_frame`` returns
them as a table; and ``alternative_text`` describes them in words.

Only this package imports matplotlib.
"""

from entrolearn.plotting.agreement import AgreementDisplay
from entrolearn.plotting.clusterings import ClusteringsDisplay, clustering_axes
from entrolearn.plotting.curves import GridCurveDisplay
from entrolearn.plotting.differences import DifferencesDisplay
from entrolearn.plotting.errors import ErrorDensityDisplay
from entrolearn.plotting.evaluations import EvaluationsDisplay, evaluation_axes
from entrolearn.plotting.hidden import HiddenSpaceDisplay
from entrolearn.plotting.images import ImageGridDisplay
from entrolearn.plotting.importances import FeatureImportancesDisplay
from entrolearn.plotting.losses import LossCurvesDisplay
from entrolearn.plotting.panels import panels_text, plot_panels
from entrolearn.plotting.process import ProcessDisplay, process_axes
from entrolearn.plotting.projected import ProjectedDensityDisplay
from entrolearn.plotting.projection import ProjectionDisplay
from entrolearn.plotting.ranks import CriticalDifferenceDisplay, critical_difference_axes
from entrolearn.plotting.starts import ExpectedMaximumDisplay, StartsDisplay
from entrolearn.plotting.style import description_of, journal_style, save_figure, svg_element
from entrolearn.plotting.support import SupportVectorDisplay
from entrolearn.plotting.surfaces import GridSurfaceDisplay
from entrolearn.plotting.timings import TimingDisplay
from entrolearn.plotting.tradeoffs import TradeoffDisplay
from entrolearn.plotting.trials import TrialsDisplay

__all__ = [
    "AgreementDisplay",
    "ClusteringsDisplay",
    "CriticalDifferenceDisplay",
    "DifferencesDisplay",
    "ErrorDensityDisplay",
    "EvaluationsDisplay",
    "ExpectedMaximumDisplay",
    "FeatureImportancesDisplay",
    "GridCurveDisplay",
    "GridSurfaceDisplay",
    "HiddenSpaceDisplay",
    "ImageGridDisplay",
    "LossCurvesDisplay",
    "ProcessDisplay",
    "ProjectedDensityDisplay",
    "ProjectionDisplay",
    "StartsDisplay",
    "SupportVectorDisplay",
    "TimingDisplay",
    "TradeoffDisplay",
    "TrialsDisplay",
    "clustering_axes",
    "critical_difference_axes",
    "description_of",
    "evaluation_axes",
    "journal_style",
    "panels_text",
    "plot_panels",
    "process_axes",
    "save_figure",
    "svg_element",
]
