"""Figures of the support vectors of refitted models in the plane."""

from entrolab.figure_types.base import PanelPerModel, plane_mistakes
from entrolab.figure_types.stored_models import OfStoredModels, stored_model


class Support(PanelPerModel, OfStoredModels):
    """Training rows in the plane, with the support vectors marked."""

    stages = ("scaled", "folds", "models")
    layout = {"n_columns": 3, "width": 10.0}

    def mistakes(self, figure, study, catalog):
        for dataset in self.datasets(figure, study):
            yield from plane_mistakes(dataset, ("binary",), catalog)
        yield from super().mistakes(figure, study, catalog)

    def spec(self, figure, study):
        protocols = {dataset: study.protocol_of(dataset) for dataset in self.datasets(figure, study)}
        return super().spec(figure, study) | {"protocols": protocols}

    def panel(self, dataset, model, files, record, spec):
        from entrolab.data.dataset import load_dataset, load_folds
        from entrolab.fit.protocols import protocol
        from entrolearn.plotting import SupportVectorDisplay

        scaled, folds, stored = files
        fitted = stored_model(model, stored, record, spec)
        data = load_dataset(scaled)
        rows, _ = protocol(spec.protocols[dataset]).final_rows(load_folds(folds))
        return SupportVectorDisplay.from_estimator(
            fitted, data.X[rows], data.y[rows], display_labels=data.classes
        )
