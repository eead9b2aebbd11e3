"""The clusters of all rows of a plane: data sets in rows, models in columns."""

import numpy as np

from entrolab.figures.drawing import Drawing, arranged, attempt, table_of
from entrolearn.plotting import ClusteringsDisplay, clustering_axes
from entrolearn.plotting.plane import check_plane


def draw(files):
    """Draw a figure of rows, with clusterers as models."""
    points, classes, clusters, tables = {}, {}, {}, []
    keys = {files.spec.name_of(model): model for model in files.spec.models}

    def clustered(source):
        data = source.data()
        check_plane(data.X)
        return data, np.asarray(source.learner().fit_predict(data.X))

    for source in files:
        found = attempt(clustered, source)
        if isinstance(found, str):
            tables.append(table_of(found, dataset=source.dataset, model=source.model))
        else:
            data, found = found
            points[source.dataset], classes[source.dataset] = data.X, data.y
        clusters.setdefault(source.dataset, {})[source.name] = found
    display = ClusteringsDisplay(points, classes, clusters)
    display.plot(clustering_axes(len(clusters), len(keys)))
    if points:
        drawn = display.to_frame().rename(columns={"set": "dataset"}).assign(reason="")
        tables.insert(0, drawn.assign(model=drawn.pop("series").map(keys)))
    table = arranged(tables)
    text = display.alternative_text() if points else "; ".join(table["reason"].unique())
    return Drawing(display.figure_, table, text)
