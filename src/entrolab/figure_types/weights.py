"""Figures of the weights of linear classifiers as images."""

from entrolab.figure_types.base import OfImages, PanelPerModel, RunsEntry, Shape
from entrolab.figure_types.stored_models import OfStoredModels, stored_model

N_ACROSS = 5  # images


class Weights(OfImages, PanelPerModel, OfStoredModels):
    """The weights of linear classifiers as images, one for each class."""

    class Entry(RunsEntry):
        shape: Shape

    stages = ("scaled", "models")
    layout = {"n_columns": 2, "width": 12.0, "height": 0.45, "common": False}

    def panel(self, dataset, model, files, record, spec):
        from entrolab.data.dataset import load_dataset
        from entrolearn.plotting import ImageGridDisplay

        scaled, stored = files
        return ImageGridDisplay.from_estimator(
            stored_model(model, stored, record, spec),
            spec.shapes[dataset],
            display_labels=load_dataset(scaled).classes,
            n_columns=N_ACROSS,
        )
