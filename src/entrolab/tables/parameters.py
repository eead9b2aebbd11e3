"""Tables of the selected parameters."""

import math
from numbers import Real

from entrolab.fit.learners import learner_at, searched
from entrolab.study.entries import OfData
from entrolab.study.sections import mapping_of
from entrolab.tables.base import NOTHING, PUBLISHED_ONLY, Found, Head, Judged
from entrolab.tables.number_format import power_of_two
from entrolab.tables.scores import CRITERIA
from entrolab.tables.trained import OfModels

# Labels of published names that are not shown as they are.
LABELS = {"sigma": "σ", "lambda": "λ", "gamma": "γ", "n_support": "#SV"}
# Published names of counts, which are not shown as powers of two.
COUNTS = {"L", "n_support"}
RECIPROCAL = "1/"
OF_THE_FITTED = "n_support"
# Relative difference of equal values: a table's file has eight digits.
SAME = 1e-7


class Parameters(OfModels):
    """The parameters selected most often, by their published names: data sets × parameters of models.

    A parameter is a result if it was selected from several values or counted on the fitted model, otherwise a
    setting.
    """

    columns = ("model", "metric")
    stages = ("selection", "record", "models")
    compares = "Top: ours; bottom: the published value."

    class Entry(OfData):
        models: mapping_of(
            mapping_of(str, "parameters by their published names"),
            "models by name, each with its published parameters, such as {sigma: 1/gamma}",
        )
        criterion: str

    def names(self, table, study):
        yield from super().names(table, study)
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
        return {name: Head(LABELS.get(name, name)) for name in names}

    def cells(self, spec):
        return [cell for cell in super().cells(spec) if cell[2] in spec.entry.models[cell[1]]]

    def of_trained(self, cell, spec, results, record):
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

    def judge(self, cell, spec, found, published_values):
        ours, value = found[cell].ours, published_values.get(cell, NOTHING).value
        if math.isnan(value):
            return Judged("ours only")
        beyond = "higher" if ours > value else "lower"
        verdict = "reproduced" if math.isclose(ours, value, rel_tol=SAME) else beyond
        ratio = ours / value if value > 0 else math.nan
        return Judged(verdict, math.log2(ratio) if 0 < ratio < math.inf else math.nan)

    def says(self, spec):
        often = "over the trials" if spec.trials else "over the test folds"
        criterion = CRITERIA[spec.entry.criterion]
        return f"The parameters selected most often {often}, by {criterion}; fixed parameters as set."

    def agreement(self, spec):
        return "equal"

    def meanings(self, spec):
        return {
            "reproduced": "selected or counted; ours equals the published value",
            "higher": "selected or counted; ours is larger",
            "lower": "selected or counted; ours is smaller",
            "equal": "set by the study; ours equals the published value",
            "differs": "set by the study to another value",
            "failed": "nothing was selected; the footnote says why",
            "published only": "a published value without a counterpart of ours",
        }

    def digits(self, metric, published_values):
        return 0

    def number(self, metric, value, digits):
        return (metric not in COUNTS and 0 < value < math.inf and power_of_two(value)) or f"{value:g}"

    def difference(self, metric, difference, published, digits):
        whole = abs(difference - round(difference)) < 0.005
        return f"ours is 2^{difference:{'.0f' if whole else '.2g'}} times the published value"
