"""Tables of the cost of one large data set."""

from entrolab.experiments.base import OfGenerated
from entrolab.study.entries import ModelsWithParams, TableEntry, Task
from entrolab.study.sections import Whole, number, whole
from entrolab.tables.base import GENERATED, Head


class Capacity(OfGenerated):
    """Seconds and memory for one large generated data set: models × costs."""

    rows, columns = ("model",), ("metric",)
    measured_by = "entrolab.experiments.capacity.measure"
    parameters = ("rows", "task", "repeats", "gib", "features")

    class Entry(TableEntry):
        models: ModelsWithParams
        rows: whole(ge=2)
        features: Whole
        task: Task = "regression"
        repeats: Whole = 1
        gib: number(gt=0) = 8

    def places(self, table):
        return {GENERATED: Head(GENERATED)}

    def metrics(self, table):
        return {
            "fit_seconds": Head("fit", "s"),
            "predict_seconds": Head("predict", "s"),
            "peak_mib": Head("memory", "MiB"),
        }

    def says(self, spec):
        n_rows, n_features = spec.entry.rows, spec.entry.features
        data = n_rows * n_features * 8 / 2**20
        return (
            f"Processor seconds to fit {n_rows:,} generated rows of {n_features:,} features "
            "and to predict them, on one thread, and the peak memory of both in addition to the "
            f"{data:,.0f} MiB of the data."
        )
