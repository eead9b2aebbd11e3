"""Figures of the average ranks of a table's models, and which of them differ significantly."""

from entrolab.figure_types.base import OfTable, OfTableEntry, name_of_model
from entrolab.tables.scores import Scores


class CriticalDifference(OfTable):
    """Average ranks of a table's models, joined where they do not differ significantly."""

    class Entry(OfTableEntry):
        metric: str

    of, table_type, stages = "scores", Scores(), ("tables",)

    def drawn_from(self, figure, study):
        return [("", "")]  # a table is one file, whatever it shows

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import Drawing, draw_whole
        from entrolab.tables.making import read_table
        from entrolab.tables.ranking import (
            LEAST_DATASETS,
            LEAST_MODELS,
            draw_ranking,
            rank_table,
            ranks_in_words,
        )

        (source,) = sources
        ranking = rank_table(read_table(source), spec["metric"])
        if ranking is None:
            few = f"fewer than {LEAST_MODELS} models or {LEAST_DATASETS} data sets with numbers"
            return draw_whole(f"{few}: nothing is ranked", None)
        labels = {model: name_of_model(spec, model) for model in spec["models"]}
        text = ranks_in_words(
            {labels[model]: rank for model, rank in ranking.average.items()},
            [labels[model] for model in ranking.beside(ranking.average.index[0])],
            len(ranking.scores),
            ranking.shown_test,
        )
        return Drawing(draw_ranking(ranking, labels), _table(ranking, labels), text)


def _table(ranking, labels):
    """A row per model, then one per two models, then one for each model that is left out."""
    import pandas as pd

    from entrolab.figure_types.drawing import arranged

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
    return arranged([pd.DataFrame([{"reason": ""} | row for row in (*models, *pairs, *out)])])
