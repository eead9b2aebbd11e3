"""Tables of the selected parameters."""

from numbers import Real

from entrolab.fit.learners import learner_at, searched
from entrolab.schema.sections import mapping_of
from entrolab.tables.base import PUBLISHED_ONLY, Found
from entrolab.tables.entries import EQUAL, OfData
from entrolab.tables.quantities import Quantity
from entrolab.tables.trained import OfModels

# Labels of published names that are not shown as they are.
LABELS = {"sigma": "σ", "lambda": "λ", "gamma": "γ", "n_support": "#SV"}
# Published names of counts, which are not shown as powers of two.
COUNTS = {"L", "n_support"}
RECIPROCAL = "1/"
OF_THE_FITTED = "n_support"


class Parameters(OfModels):
    """The parameters selected most often, by their published names: data sets × parameters of models.

    A parameter is a result if it was selected from several values or counted on the fitted model, otherwise a
    setting.
    """

    columns = ("model", "metric")
    stages = ("selection", "record", "models")
    tolerance = EQUAL
    explanation = "The parameters selected most often over {tests}, by {criterion}; fixed parameters as set."

    class Entry(OfData):
        models: mapping_of(
            mapping_of(str, "parameters by their published names"),
            "models by name, each with its published parameters, such as {sigma: 1/gamma}",
        )
        criterion: str

    def names_to_check(self, table, study):
        yield from super().names_to_check(table, study)
        yield "criterion", table.criterion, study.criteria, "criterion of this study"
        for model, parameters in table.models.items():
            entry = study.models[model]
            yield "criterion", table.criterion, entry.criteria, f"criterion of model {model!r}"
            fixed = [entry.params, *(learner.params or {} for learner in entry.one_of.values())]
            known = [*(name for params in fixed for name in params), *searched(entry), OF_THE_FITTED]
            for source in parameters.values():
                where = f"models.{model}"
                yield where, source.removeprefix(RECIPROCAL), known, f"parameter of model {model!r}"

    def metrics(self, table):
        names = dict.fromkeys(name for parameters in table.models.values() for name in parameters)
        return {
            name: Quantity(
                LABELS.get(name, name),
                style="general" if name in COUNTS else "power",
                compared="log2",
            )
            for name in names
        }

    def cells(self, spec):
        return [cell for cell in super().cells(spec) if cell[2] in spec.entry.models[cell[1]]]

    def value_of_run(self, cell, spec, results, record):
        from entrolab.fit.selection import most_often  # imported late: it imports pandas

        dataset, model, metric = cell
        rows = results.selection(dataset, model).get(spec.entry.criterion)
        chosen = None if rows is None else most_often(rows)
        if chosen is None:
            return Found(status="failed", reason="nothing was selected by this criterion")
        params, _ = chosen
        source = spec.entry.models[model][metric]
        name, learner = source.removeprefix(RECIPROCAL), learner_at(record, params)
        known = {**learner.params, **params}
        if source == OF_THE_FITTED:
            known = results.facts(dataset, model, spec.entry.criterion)
        value = known.get(name)
        if not isinstance(value, Real) or (source.startswith(RECIPROCAL) and not value):
            return Found(status=PUBLISHED_ONLY)  # not a number, or a fact that is not known for the model
        tried = {**learner.grid, **record["grid"]}.get(name, ())
        given = source != OF_THE_FITTED and len(tried) < 2
        return Found(1 / value if source.startswith(RECIPROCAL) else float(value), given=given)
