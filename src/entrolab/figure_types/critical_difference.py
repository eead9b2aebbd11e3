"""Average ranks of a table's models, and which of them may be told apart."""

from collections.abc import Mapping, Sequence

import pandas as pd

from entrolab.figure_types.drawing import Drawing, name_of_model
from entrolab.tables.making import read_table
from entrolab.tables.ranking import (
    ALPHA,
    LEAST_DATASETS,
    LEAST_MODELS,
    Ranking,
    draw_ranking,
    rank_table,
    ranks_in_words,
    shown_test,
)
from entrolearn.plotting import plot_panels

# A row per model, with what is the same for all of them, then one per two models.
COLUMNS = [
    "model",
    "rank",
    "scored",
    "datasets",
    "friedman",
    "other",
    "nemenyi",
    "wilcoxon",
    "wins",
    "ties",
    "losses",
    "reason",
]
TOO_FEW = f"fewer than {LEAST_MODELS} models or {LEAST_DATASETS} data sets with numbers: nothing is ranked"


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """The critical-difference diagram of one metric of a table of the kind scores, its only source."""
    (source,) = sources
    ranking = rank_table(read_table(source), spec["metric"])
    if ranking is None:
        table = pd.DataFrame([{"reason": TOO_FEW}], columns=COLUMNS)
        return Drawing(plot_panels({"": TOO_FEW}), table)
    labels = {model: name_of_model(spec, model) for model in spec["models"]}
    return Drawing(draw_ranking(ranking, labels), _rows(ranking, labels))


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The ranks, and who is not told apart from the best."""
    models = table.dropna(subset="rank")
    if models.empty:
        return TOO_FEW
    n_datasets = int(models["datasets"].iloc[0])
    best = models["model"].iloc[0]
    pairs = table[(table["model"] == best) & table["wins"].notna()]
    test = shown_test(n_datasets, len(models))
    beside = pairs[pairs[test] >= ALPHA]
    return ranks_in_words(
        {name_of_model(spec, row.model): row.rank for row in models.itertuples()},
        [name_of_model(spec, model) for model in beside["other"]],
        n_datasets,
        test,
    )


def _rows(ranking: Ranking, labels: Mapping[str, str]) -> pd.DataFrame:
    """A row per model, then one per two models, then one for each model that is left out."""
    of_all = {"datasets": len(ranking.scores), "friedman": ranking.p}
    models = [
        {"model": model, "rank": rank, "scored": ranking.scored[model], **of_all}
        for model, rank in ranking.average.items()
    ]
    pairs = [
        {
            "model": a,
            "other": b,
            "nemenyi": ranking.nemenyi.loc[a, b],
            "wilcoxon": ranking.wilcoxon.loc[a, b],
            **dict(zip(("wins", "ties", "losses"), ranking.wins(a, b), strict=True)),
        }
        for a, b in ranking.pairs()
    ]
    out = [
        {"model": model, "reason": f"{labels[model]}: no number on more than half of the data sets"}
        for model in ranking.lacking
    ]
    return pd.DataFrame([{"reason": ""} | row for row in (*models, *pairs, *out)], columns=COLUMNS)
