"""The figure of the expected best optimum of several random starts."""

from entrolab.experiments.starts.figure import OBJECTIVE, Starts, measured_starts
from entrolab.figure_types.base import OfTableEntry
from entrolab.study.sections import one_of


class ExpectedMaximum(Starts):
    """The expected best of several starts, in percent of the best of all: a panel per data set."""

    class Entry(OfTableEntry):
        against: one_of("starts", "seconds")

    layout = {"n_columns": 5, "width": 11.0}

    def draw(self, spec, sources, records):
        import numpy as np

        from entrolab.figure_types.drawing import Line, draw_lines
        from entrolearn.plotting import ExpectedMaximumDisplay

        lines, costs = {}, {}
        for dataset, model, starts in measured_starts(spec, sources):
            name, reached = spec.name_of(model), starts["objective"].dropna()
            costs[dataset, name] = starts["seconds"].mean()
            seconds = costs[dataset, name] * np.arange(1, 1 + len(reached))
            if len(reached):
                lines[dataset, model, name] = Line(
                    starts["objective"].to_numpy(), columns={"seconds": seconds}
                )
            # Failed starts have rows of their own.
            for k, lost in enumerate(starts.loc[starts["objective"].isna(), "reason"]):
                lines[dataset, model, f"lost start {k}"] = lost

        def display(dataset, found):
            of_a_start = {name: costs[dataset, name] for name in found}
            return ExpectedMaximumDisplay(
                found,
                costs=of_a_start if spec.entry.against == "seconds" else None,
                relative=True,
                objective_name=OBJECTIVE,
            )

        return draw_lines(lines, display, empty=None, **self.layout)
