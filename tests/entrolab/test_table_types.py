"""Kinds of tables: what each puts into its cells, how it judges them, and how it shows them."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_studies import MODELS, spec_of_kind, with_entry

from entrolab.experiments.measuring import frame
from entrolab.tables.captions import agreement, explanation
from entrolab.tables.making import COLUMNS, make_table
from entrolab.tables.rendering import layout, render
from entrolab.tables.types import TABLE_TYPES


class Results:
    """What there is of ours, by the names that kinds look it up with."""

    def __init__(self, seconds=None, counts=None, measured=()):
        self.seconds, self.counts, self.rows = seconds or {}, counts or {}, measured

    def record(self, dataset, model):
        known = self.seconds.get((dataset, model))
        if known is None:
            return None
        return {"success": not isinstance(known, str), "status": "failed", "error": known}

    def facts(self, dataset, model, criterion=None):
        return {"fit_seconds": self.seconds[dataset, model]}

    def scores(self, dataset, model, among):
        return {}

    def characteristics(self, dataset):
        return {"absent": "404"} if dataset not in self.counts else {"absent": "", **self.counts[dataset]}

    def division(self, dataset):
        return {"n_train": 6, "n_test": 3}

    def features(self, dataset):
        return {"density": 0.7996, "n_dims": 3, "n_dims_negative": 2}

    def measured(self, table, dataset):
        return [*frame(self.rows).itertuples(index=False)]


def published(*rows):
    """Published numbers of table1, each (data set, model, metric, value)."""
    table = pd.DataFrame(rows, columns=["dataset", "model", "metric", "value"])
    return table.assign(table="table1", std=np.nan)


def verdicts(table):
    return table["verdict"].tolist()


# --- what all kinds have in common -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_every_kind_makes_a_complete_table_of_nothing_and_renders_it(kind):
    asked = spec_of_kind(kind, ["iris", "wine"])
    table = make_table(Results(), published(), asked)
    assert list(table.columns) == COLUMNS
    cells = list(table[["dataset", "model", "metric"]].itertuples(index=False, name=None))
    assert cells == asked.type.cells(asked)
    assert set(verdicts(table)) <= {"failed", "no data"}
    assert render(table, asked, "csv")
    # With nothing published, views do not speak of it.
    for format in ("html", "tex", "md"):
        text = re.sub(r"<style>.*</style>|providecolor\S+", "", render(table, asked, format), flags=re.S)
        assert "published" not in text.replace("entropublished", "")
        assert agreement(asked) not in text


# --- times -----------------------------------------------------------------------------------------------


def times(seconds, is_published, datasets=("iris",)):
    """The table of elm, eem and svm on iris; None: nothing published."""
    ours = {("iris", name): value for name, value in zip(MODELS, seconds, strict=True)}
    rows = [
        ("iris", name, "fit_seconds", np.nan if value is None else value)
        for name, value in zip(MODELS, is_published, strict=True)
    ]
    return make_table(Results(seconds=ours), published(*rows), spec_of_kind("times", datasets))


def test_times_are_judged_by_their_ratio_to_the_first_column():
    """Half the seconds throughout is the same table on another machine."""
    table = times([1.0, 2.0, 5.0], [2.0, 4.0, 10.0])
    assert verdicts(table) == ["unit", "reproduced", "reproduced"]
    assert table["difference"].tolist()[1:] == [1.0, 1.0]
    assert math.isnan(table["difference"][0])


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        # 0.1 / 0.2 in print is anything from 0.05 / 0.25 to 0.15 / 0.15: 0.2 … 1, and a factor of two around
        (0.101, "reproduced"),
        (0.099, "lower"),
        (1.99, "reproduced"),
        (2.01, "higher"),
    ],
)
def test_printed_times_are_as_uncertain_as_their_rounding(ratio, expected):
    assert verdicts(times([1.0, ratio, 1.0], [0.2, 0.1, 0.2]))[1] == expected


def test_a_printed_zero_is_a_bound():
    """0.0 / 0.2 is at most 0.05 / 0.15; the factor is counted from the most that rounds to 0.0."""
    table = times([1.0, 1e-6, 0.7], [0.2, 0.0, 0.0])
    assert verdicts(table) == ["unit", "reproduced", "higher"]
    assert table["difference"][2] == pytest.approx(0.7 / (0.05 / 0.2))
    shown = layout(table, spec_of_kind("times"))["rows"][0]["cells"]
    assert [cell.beside_published for cell in shown] == ["", "≥×4.0e-06", "≥×2.8"]


def test_times_without_a_printed_ratio_are_not_compared():
    assert verdicts(times([1.0, 2.0, 3.0], [1.0, None, 3.0])) == ["unit", "ours only", "reproduced"]
    table = times([1.0, 2.0, 3.0], [None, 2.0, 3.0])
    assert verdicts(table) == ["ours only", "published only", "published only"]
    assert (
        table["reason"].tolist() == [""] + ["no ratio: the row's first column has no seconds published"] * 2
    )


def test_times_without_a_first_column_of_ours_are_not_compared():
    table = times(["singular matrix", 2.0, 3.0], [1.0, 2.0, 3.0])
    assert verdicts(table) == ["failed", "published only", "published only"]
    assert table["reason"].tolist()[:2] == [
        "singular matrix",
        "no ratio: the row's first column has no seconds of ours",
    ]


@pytest.mark.parametrize(
    ("cost", "shown", "said"),
    [
        ("fit_seconds", ["1.00", "0.20", "1500.00"], "all rows"),
        ("predict_seconds", ["1.00", "0.20", "1500.00"], "the rows that it was fitted on"),
        ("n_stored_numbers", ["1", "0", "1,500"], "all rows"),
    ],
)
def test_a_table_of_times_shows_the_cost_that_it_asks_for(cost, shown, said):
    class Costs(Results):
        def facts(self, dataset, model, criterion=None):
            return {cost: self.seconds[dataset, model]}

    asked = spec_of_kind("times", cost=cost)
    ours = {("iris", name): value for name, value in zip(MODELS, [1.0, 0.2, 1500.0], strict=True)}
    table = make_table(Costs(seconds=ours), published(), asked)
    assert [cell.ours for cell in layout(table, asked)["rows"][0]["cells"]] == shown
    assert said in explanation(asked)


def test_published_speedups_are_shown_beside_our_ratios_and_not_judged():
    asked = spec_of_kind("times", ["iris", "wine"], cost="speedup")
    ours = {("iris", "elm"): 2.0, ("iris", "eem"): 5.0, ("iris", "svm"): "singular matrix"}
    rows = [("iris", name, "speedup", value) for name, value in (("elm", 1), ("eem", 12.8), ("svm", 344))]
    table = make_table(Results(seconds=ours), published(*rows), asked)
    assert table["ours"].tolist()[:2] == [1.0, 2.5]
    # Nothing is known of wine, and nothing is published.
    assert verdicts(table) == ["published only"] * 3 + [""] * 3
    cells = layout(table, asked)["rows"][0]["cells"]
    assert [(cell.ours, cell.published) for cell in cells] == [("1.0", "1"), ("2.5", "12.8"), ("", "344")]
    assert "divided by" in explanation(asked)
    # A first model that took no time gives no ratio.
    table = make_table(Results(seconds=ours | {("iris", "elm"): 0.0}), published(*rows), asked)
    assert verdicts(table) == ["published only"] * 3 + [""] * 3
    assert table["ours"].isna().all()


def test_times_of_a_sample_say_of_how_many_rows():
    assert "1,000 rows" in explanation(replace(spec_of_kind("times"), sample=1000))


def test_the_unit_of_a_row_is_not_counted_as_agreeing():
    shown = layout(times([1.0, 2.0, 5.0], [2.0, 4.0, 10.0]), spec_of_kind("times"))
    agreed = [column["agreed"] for column in shown["columns"]]
    assert [(one.agreeing, one.compared) for one in agreed] == [(0, 0), (1, 1), (1, 1)]
    assert shown["agreed"] == (2, 2, 0, 0, 1)


def test_printed_seconds_are_as_certain_as_their_decimals():
    """0.0006 / 0.0005 is known to 20 %; as 0.0 / 0.0 nothing would be."""
    assert verdicts(times([1.0, 0.49, 2.9], [0.0005, 0.0006, 0.0006])) == ["unit", "lower", "higher"]
    assert verdicts(times([1.0, 0.51, 2.8], [0.0005, 0.0006, 0.0006])) == ["unit", "reproduced", "reproduced"]
    table = times([1.0, 1.0, 1.0], ["29", "44", "0.150"])
    shown = layout(table, spec_of_kind("times"))["rows"][0]["cells"]
    assert [cell.published for cell in shown] == ["29.0", "44.0", "0.15"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ([0.2, 0.0, 4.0], ["0.20", "0.00", "4.00"]),
        ([0.01234, 0.5, 1500.0], ["0.012", "0.500", "1500.000"]),
        ([0.0001, 0.0006, 4.0], ["<0.001", "0.001", "4.000"]),
        ([12.34, 99.96, 1500.0], ["12.3", "100.0", "1500.0"]),
    ],
)
def test_the_seconds_of_a_row_have_one_precision(seconds, shown):
    """Two significant digits of the fewest, from one decimal to three."""
    rendered = layout(times(seconds, [2.0, 4.0, 10.0]), spec_of_kind("times"))["rows"][0]["cells"]
    assert [cell.ours for cell in rendered] == shown


# --- characteristics -------------------------------------------------------------------------------------


def test_characteristics_are_equal_or_differ():
    ours = Results(counts={"iris": {"n_features": 4, "n_negative": 1000, "n_positive": 50}})
    asked = spec_of_kind("characteristics", ["iris", "wine"])
    rows = [("iris", "", "n_features", 4), ("iris", "", "n_negative", 1001), ("wine", "", "n_features", 13)]
    table = make_table(ours, published(*rows), asked)
    assert verdicts(table) == ["equal", "differs", "ours only", "no data", "no data", "no data"]
    assert table["difference"].tolist()[:2] == [0, -1]
    shown = layout(table, asked)
    assert shown["agreed"] == (0, 0, 1, 2, 1)
    assert [row["heads"][0]["text"] for row in shown["rows"]] == ["iris", "wine"]
    assert shown["rows"][0]["cells"][1].ours == "1,000"


def test_a_division_is_counted_and_numbers_have_no_classes():
    asked = spec_of_kind("characteristics", ["iris", "wine"], counts=["n_classes", "n_train", "n_test"])
    ours = Results(counts={"iris": {"n_classes": 3}, "wine": {"n_features": 4}})
    rows = [("iris", "", "n_classes", 3), ("iris", "", "n_train", 6), ("iris", "", "n_test", 4)]
    table = make_table(ours, published(*rows), asked)
    assert verdicts(table) == ["equal", "equal", "differs", "", "ours only", "ours only"]
    assert TABLE_TYPES["characteristics"].stages_of(asked.entry) == ("data", "folds")
    classes = with_entry(asked, counts=["n_classes"])
    assert TABLE_TYPES["characteristics"].stages_of(classes.entry) == ("data",)


def test_a_value_is_judged_where_it_is_corrected_to_and_a_footnote_has_what_is_printed():
    asked = spec_of_kind(
        "characteristics", counts=["n_features", "n_dims", "n_dims_negative", "n_dims_positive"]
    )
    ours = Results(counts={"iris": {"n_features": 4}})  # of 3 and, in the negative class, 2 dimensions
    rows = [("n_features", "40", None, "4"), ("n_dims_negative", "3", "n_dims", None)]
    rows += [("n_dims_positive", "2", "n_dims_negative", None)]
    corrected = pd.DataFrame(rows, columns=["metric", "value", "corrected_metric", "corrected_value"])
    is_published = corrected.assign(table="table1", dataset="iris", model="", std=np.nan)
    table = make_table(ours, is_published, asked).set_index("metric")
    assert table["verdict"].tolist() == ["equal"] * 3 + [""]
    assert table["published"].tolist()[:3] == [4, 3, 2]
    assert table["reason"].tolist() == [
        "published as 40",
        "published as dimensions of negative",
        "published as dimensions of positive",
        "",
    ]


def test_a_published_power_that_is_corrected_is_shown_as_a_power():
    asked = spec_of_kind("parameters")
    columns = ["table", "dataset", "model", "metric", "value", "std", "corrected_value"]
    is_published = pd.DataFrame([("table1", "iris", "elm", "C", "32", np.nan, "0.03125")], columns=columns)
    table = make_table(Results(), is_published, asked).set_index(["model", "metric"])
    assert table.loc[("elm", "C"), "published"] == 0.03125
    assert table.loc[("elm", "C"), "reason"].endswith("published as 2^5")


def test_features_are_counted_as_scaled_and_a_share_is_judged_as_it_rounds():
    asked = spec_of_kind(
        "characteristics", counts=["density", "n_dims", "n_dims_negative", "n_dims_positive"]
    )
    ours = Results(counts={"iris": {"n_features": 4}})
    rows = [
        ("iris", "", "density", "0.80"),
        ("iris", "", "n_dims", "3"),
        ("iris", "", "n_dims_negative", "3"),
    ]
    table = make_table(ours, published(*rows), asked)
    assert verdicts(table) == ["equal", "equal", "differs", ""]
    sharper = make_table(ours, published(("iris", "", "density", "0.800")), asked)
    assert verdicts(sharper)[0] == "equal"
    assert verdicts(make_table(ours, published(("iris", "", "density", "0.79")), asked))[0] == "differs"
    assert layout(table, asked)["rows"][0]["cells"][0].ours == "0.80"
    assert TABLE_TYPES["characteristics"].stages_of(asked.entry) == ("data", "scaled")
    assert "principal components" in explanation(asked)
    assert "principal" not in explanation(spec_of_kind("characteristics"))


# --- parameters ------------------------------------------------------------------------------------------


def chosen(*points, success=True):
    """Scores of cv, by the grid's points: 0 is C = 1, 1 is C = 0.25, both with gamma = 2."""
    params = [json.dumps({"C": (1, 0.25)[point], "gamma": 2}) for point in points]
    return {"cv": pd.DataFrame({"point": points, "params": params, "success": success})}


GRID = {"C": [1, 0.25], "gamma": [2, 4]}


def parameters(scores, *is_published, facts=(), fixed=(), grid=GRID):
    ours = Results(seconds={("iris", "elm"): 1.0, ("iris", "svm"): 1.0})
    ours.record = lambda dataset, model: {"success": True, "params": dict(fixed), "grid": grid}
    ours.selection = lambda dataset, model: scores
    ours.facts = lambda dataset, model, criterion: dict(facts)
    asked = spec_of_kind("parameters")
    return make_table(ours, published(*(("iris", *row) for row in is_published)), asked), asked


def test_parameters_are_those_chosen_most_often_by_their_printed_names():
    table, asked = parameters(
        chosen(1, 0, 1), ("elm", "C", 0.25), ("svm", "C", 0.125), ("svm", "sigma", 2), facts={"n_support": 64}
    )
    cells = table.set_index(["model", "metric"])
    assert cells["ours"].to_dict() == {
        ("elm", "C"): 0.25,
        ("svm", "C"): 0.25,
        ("svm", "sigma"): 0.5,
        ("svm", "n_support"): 64,
    }
    assert cells["verdict"].tolist() == ["reproduced", "higher", "lower", "ours only"]
    shown = layout(table, asked)
    assert [(column["label"], column["sublabel"]) for column in shown["columns"]] == [
        ("ELM", "C"),
        ("SVM", "C"),
        ("SVM", "σ"),
        ("SVM", "#SV"),
    ]
    (row,) = shown["rows"]
    assert [cell.ours for cell in row["cells"]] == ["2^-2", "2^-2", "2^-1", "64"]
    assert [cell.difference for cell in row["cells"]][1:3] == [
        "ours is 2^1 times the published value",
        "ours is 2^-2 times the published value",
    ]
    assert "2<sup>−2</sup>" in render(table, asked, "html")
    assert "2<sup>−2</sup>" in render(table, asked, "md")
    assert "$2^{-2}$" in render(table, asked, "tex")


def test_a_fixed_parameter_is_its_value_and_an_unknown_fact_is_blank():
    table, _ = parameters(
        {"cv": chosen(0)["cv"].assign(params="{}")},
        ("svm", "n_support", 12),
        fixed={"C": 3, "gamma": 4},
        grid={},
    )
    assert verdicts(table) == ["ours only", "ours only", "ours only", "published only"]
    assert table["ours"].tolist()[:3] == [3, 3, 0.25]


def test_parameters_are_compared_by_their_ratio():
    fixed = {"cv": chosen(0)["cv"].assign(params="{}")}
    prints = [("elm", "C", 1e-10), ("svm", "C", 1e-12 * (1 + 1e-9)), ("svm", "sigma", 1e9)]
    table, _ = parameters(fixed, *prints, fixed={"C": 1e-12, "gamma": 1e-9})
    assert verdicts(table)[:3] == ["lower", "reproduced", "reproduced"]


def test_a_parameter_that_the_study_sets_is_no_result():
    """One value of C to select from is a setting, as is a fixed gamma; of two values, C is a result."""
    rows = [("elm", "C", 1), ("svm", "C", 2), ("svm", "sigma", 0.5), ("svm", "n_support", 64)]
    known = {"fixed": {"gamma": 2}, "facts": {"n_support": 64}}
    table, asked = parameters(chosen(0), *rows, grid={"C": [1]}, **known)
    assert verdicts(table) == ["equal", "differs", "equal", "reproduced"]
    assert layout(table, asked)["agreed"] == (1, 1, 2, 3, 0)
    table, _ = parameters(chosen(0), *rows, grid={"C": [1, 0.25]}, **known)
    assert verdicts(table) == ["reproduced", "lower", "equal", "reproduced"]


def test_an_infinite_parameter_is_shown_beside_the_published_value():
    params = chosen(0)["cv"].assign(params='{"C": Infinity, "gamma": Infinity}')
    table, asked = parameters({"cv": params}, ("elm", "C", 4), ("svm", "sigma", 2))
    assert verdicts(table)[:3] == ["higher", "ours only", "lower"]
    assert [cell.ours for cell in layout(table, asked)["rows"][0]["cells"]][:3] == ["inf", "inf", "0"]


def test_parameters_that_nothing_chose_are_failed():
    table, _ = parameters(chosen(0, success=False))
    assert set(verdicts(table)) == {"failed"}


# --- scores with iterations and seconds ------------------------------------------------------------------


class Trained(Results):
    """Cells whose training succeeded: (accuracy, iterations, seconds) of each model on iris, in one trial."""

    def __init__(self, allowed=None, **models):
        super().__init__(seconds={("iris", name): seconds for name, (_, _, seconds) in models.items()})
        self.models, self.params = models, {} if allowed is None else {"max_iter": allowed}

    def record(self, dataset, model):
        notes = {f"stopped at {self.params['max_iter']} iterations": 1} if self.params else {}
        fits = {"n_candidates": 1, "n_failed": 0, "notes": notes}
        return super().record(dataset, model) | fits | {"params": self.params}

    def scores(self, dataset, model, among):
        accuracy, iterations, _ = self.models[model]
        row = {"point": 0, "params": "{}", "success": True, "error": "", "accuracy": accuracy}
        return {"cv": pd.DataFrame([row | {"iterations": iterations}])}


def with_seconds(**changes):
    tolerances = {"tolerance": {"points": 0.5}, "tolerances": {"iterations": {"percent": 20}}}
    metrics = ["accuracy", "iterations", "fit_seconds"]
    keys = {"metric": metrics, "criterion": "cv", **tolerances, **changes}
    return spec_of_kind("scores", **keys)


def trained(is_published, **options):
    results = Trained(elm=(0.9, 60, 2.0), eem=(0.92, 150, 8.0), svm=(0.95, math.nan, 5.0), **options)
    return make_table(results, published(*is_published), with_seconds()).set_index(["model", "metric"])


def test_training_is_judged_by_its_score_and_by_iterations_that_were_found():
    is_published = [
        ("iris", model, metric, value)
        for model, found in {"elm": (90.5, 50, 30), "eem": (91.4, 190, 60), "svm": (94.0, 7, 9)}.items()
        for metric, value in zip(("accuracy", "iterations", "fit_seconds"), found, strict=True)
    ]
    table = trained(is_published)
    assert table["verdict"].unstack().loc[["elm", "eem", "svm"]].to_numpy().tolist() == [
        ["reproduced", "unit", "reproduced"],
        ["higher", "published only", "lower"],
        ["higher", "published only", "published only"],
    ]
    assert table.loc[("elm", "accuracy"), "difference"] == pytest.approx(-0.5)
    assert table.loc[("eem", "iterations"), "difference"] == -40
    # ours took 4 times as long as the first row, in print 2 times
    assert table.loc[("eem", "fit_seconds"), "difference"] == pytest.approx(2)
    assert table.loc[("svm", "iterations"), "reason"] == "a learner without iterations"


def test_iterations_that_a_study_sets_are_no_finding():
    table = trained([("iris", "elm", "iterations", 60), ("iris", "eem", "iterations", 150)], allowed=60)
    assert table.loc[("elm", "iterations"), ["verdict", "reason"]].tolist() == [
        "published only",
        "as many iterations as were set",
    ]
    assert table.loc[("eem", "iterations"), ["verdict", "reason"]].tolist() == ["reproduced", ""]
    assert table.loc[("elm", "accuracy"), "reason"] == ""


def test_training_shows_a_row_per_model_and_the_ratio_of_seconds_beside_print():
    is_published = [("iris", "elm", "fit_seconds", 30), ("iris", "eem", "fit_seconds", 60)]
    is_published.append(("iris", "eem", "accuracy", 91.75))
    table = trained(is_published).reset_index().assign(dataset="iris")
    shown = layout(table[COLUMNS], with_seconds())
    assert [column["label"] for column in shown["columns"]] == ["accuracy", "iterations", "seconds"]
    assert [[cell.ours for cell in row["cells"]] for row in shown["rows"]] == [
        ["90.00", "60", "2.0"],
        ["92.00", "150", "8.0"],
        ["95.00", "", "5.0"],
    ]
    eem = shown["rows"][1]["cells"]
    assert [(cell.published, cell.beside_published) for cell in eem] == [
        ("91.75", ""),
        ("", ""),
        ("60", "×2.0"),
    ]
