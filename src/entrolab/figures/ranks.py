"""The critical-difference diagram of a table's models, and the section of a page on their ranks."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from entrolab.fit.metrics import METRICS
from entrolab.tables.ranking import TESTS, Ranking, average_ranks, rank_table, scores_of
from entrolearn.plotting import (
    CriticalDifferenceDisplay,
    critical_difference_axes,
    journal_style,
    svg_element,
)


def rank_section(table: pd.DataFrame, labels: Mapping[str, str], metric: str) -> dict | None:
    """The content of a page for the ranks of a table's models; None if models or data sets are too few.

    `labels` are those of models and data sets. ``diagram`` is an ``<svg>`` element. ``rows`` are of models,
    the best first, ``pairs`` have the better model first; their numbers are a value to sort by and a text.
    """
    ranking = rank_table(table, metric)
    if ranking is None:
        return None
    names = {model: labels.get(model, model) for model in ranking.average.index}
    with journal_style():
        diagram = svg_element(draw_ranking(ranking, names))
    ranks = {"average rank": ranking.average}
    if table["published"].notna().any():
        ranks["average rank, published"] = _published_ranks(ranking, table, metric)
    rows = [
        (name, [*(_number(of.get(model), ".2f") for of in ranks.values()), (n, n)])
        for (model, name), n in zip(names.items(), ranking.scored, strict=True)
    ]
    pairs = [
        (
            (names[pair["a"]], names[pair["b"]]),
            [
                (pair["wins"], f"{pair['wins']}, {pair['ties']}, {pair['losses']}"),
                *(_number(pair[test], ".2g") for test in ("nemenyi", "wilcoxon")),
            ],
        )
        for pair in ranking.pairs()
    ]
    return {
        "diagram": diagram,
        "alt": ranking.in_words(names),
        "summary": f"Average ranks by {METRICS[metric].label}: Friedman’s p = {ranking.p:.2g}",
        "rule": f"{ranking.rule(labels)} Friedman’s χ² = {ranking.friedman:.2f} with {len(names) - 1} "
        f"degrees of freedom, {len(ranking.scores)} data sets.",
        "heads": ["model", *ranks, "data sets"],
        "rows": rows,
        "pairs": pairs,
        "all_pairs": f"All {len(pairs)} pairs",
    }


def _number(value: float | None, form: str) -> tuple[float | str, str]:
    return ("", "–") if value is None else (float(value), f"{value:{form}}")


def draw_ranking(ranking: Ranking, labels: Mapping[str, str]):
    """The critical-difference diagram of a ranking with the models' labels, a matplotlib figure."""
    test = TESTS[ranking.shown_test]
    groups = [[labels[model] for model in group] for group in ranking.groups()]
    display = CriticalDifferenceDisplay(
        {labels[model]: rank for model, rank in ranking.average.items()},
        groups,
        critical_difference=ranking.critical_difference,
        difference_name="critical difference of Nemenyi's test",
        remark=f"{'bars: no significant difference' if groups else 'all differ significantly'} by {test}\n"
        f"Friedman's test of all: p {f'= {ranking.p:.2g}' if ranking.p >= 1e-4 else '< 0.0001'}",
    )
    return display.plot(critical_difference_axes(display)).figure_


def _published_ranks(ranking: Ranking, table: pd.DataFrame, metric: str) -> Mapping[str, float]:
    """Ranks of the same models on the same data sets by the published values; empty if values are missing."""
    models, datasets = ranking.scores.columns, ranking.scores.index
    same = table[table["model"].isin(models) & table["dataset"].isin(datasets)]
    published_values = scores_of(same, metric, "published")
    if not np.isfinite(published_values).all(axis=None):
        return {}
    return average_ranks(published_values, METRICS[metric].greater_is_better)
