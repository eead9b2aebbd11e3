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

    `labels` are those of models and data sets. The content is the critical-difference ``diagram`` (an
    ``<svg>`` element), ``alt``, ``rule``, ``rows`` (one per model, the best first; ``rank_published`` is its
    rank by the published values of the same models and data sets, None if values are missing), ``friedman``
    and ``pairs`` (the better model first).
    """
    ranking = rank_table(table, metric)
    if ranking is None:
        return None
    names = {model: labels.get(model, model) for model in ranking.average.index}
    with journal_style():
        picture = svg_element(draw_ranking(ranking, names))
    published_ranks = _published_ranks(ranking, table, metric)
    return {
        "diagram": picture,
        "alt": ranking.in_words(names),
        "rule": ranking.rule(labels),
        "rows": [
            {
                "model": name,
                "rank": float(ranking.average[model]),
                "rank_published": published_ranks.get(model),
                "scored": int(ranking.scored[model]),
            }
            for model, name in names.items()
        ],
        "friedman": {"statistic": ranking.friedman, "p": ranking.p}
        | {"n": len(ranking.scores), "k": len(names)},
        "pairs": [{**pair, "a": names[pair["a"]], "b": names[pair["b"]]} for pair in ranking.pairs()],
    }


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


def _published_ranks(ranking: Ranking, table: pd.DataFrame, metric: str) -> dict[str, float]:
    """Ranks of the same models on the same data sets by the published values; empty if values are missing."""
    models, datasets = ranking.scores.columns, ranking.scores.index
    same = table[table["model"].isin(models) & table["dataset"].isin(datasets)]
    published_values = scores_of(same, metric, "published")
    if not np.isfinite(published_values).all(axis=None):
        return {}
    return average_ranks(published_values, METRICS[metric].greater_is_better).to_dict()
