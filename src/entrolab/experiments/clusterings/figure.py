"""The figure of the clusters that clusterers find in the plane, side by side."""

from entrolab.experiments.clusterings.table import CLUSTERER, clusterers_of
from entrolab.figure_types.base import FittedAnew, plane_mistakes
from entrolab.study.entries import Entry, TwelveModels


class Clusterings(FittedAnew):
    """The clusters of all rows of a plane: data sets in rows, models in columns."""

    class Entry(Entry):
        datasets: str
        models: TwelveModels

    def names(self, figure, study, catalog):
        yield from super().names(figure, study, catalog)
        for model in figure.models:
            yield "models", model, clusterers_of(study), CLUSTERER

    def mistakes(self, figure, study, catalog):
        for dataset in self.datasets(figure, study):
            yield from plane_mistakes(dataset, ("binary", "multiclass"), catalog)

    def fitted(self, data, learner, spec):
        import numpy as np

        return data, np.asarray(learner.fit_predict(data.X))

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import Drawing, arranged, table_of
        from entrolearn.plotting import ClusteringsDisplay, clustering_axes

        names = {model: spec.name_of(model) for model in spec.models}
        points, classes, found, tables = {}, {}, {dataset: {} for dataset in spec.datasets}, []
        for (dataset, model), panel in self.panels(spec, sources, records).items():
            if isinstance(panel, str):
                tables.append(table_of(panel, dataset=dataset, model=model))
                found[dataset][names[model]] = panel
            else:
                data, found[dataset][names[model]] = panel
                points[dataset], classes[dataset] = data.X, data.y
        display = ClusteringsDisplay(points, classes, found)
        display.plot(clustering_axes(len(found), len(names)))
        if points:
            keys = {name: model for model, name in names.items()}
            drawn = display.to_frame().rename(columns={"set": "dataset"}).assign(reason="")
            tables.insert(0, drawn.assign(model=drawn.pop("series").map(keys)))
        table = arranged(tables)
        text = display.alternative_text() if points else "; ".join(table["reason"].unique())
        return Drawing(display.figure_, table, text)
