"""Critical-difference diagrams: average ranks of a table's models, and which differ significantly."""

from entrolab.figures.base import FigureType
from entrolab.schema.sections import unknown


class CriticalDifference(FigureType):
    """Average ranks of a table's models, joined where they do not differ significantly."""

    of = "table"
    table: str
    metric: str

    def mistakes(self, study, catalog):
        yield from unknown(self.table, study.score_tables(), "table", "table of type scores")
        metrics = study.spec_of_table(self.table).metrics
        yield from unknown(self.metric, metrics, "metric", "metric of this table")

    def draw(self, files):
        from entrolab.figures.drawing import Drawing, draw_whole
        from entrolab.figures.ranks import draw_ranking
        from entrolab.results.frames import read_table
        from entrolab.tables.ranking import LEAST_DATASETS, LEAST_MODELS, rank_table

        (table,) = files
        ranking = rank_table(read_table(table.files["tables"]), self.metric)
        if ranking is None:
            few = f"fewer than {LEAST_MODELS} models or {LEAST_DATASETS} data sets with numbers"
            return draw_whole(f"no ranks: {few}", None)
        labels = {model: files.spec.name_of(model) for model in files.spec.models}
        return Drawing(draw_ranking(ranking, labels), _table(ranking, labels), ranking.in_words(labels))


def _table(ranking, labels):
    """One row per model, then one per pair of models, then one per model that is left out."""
    import pandas as pd

    from entrolab.figures.drawing import arranged

    of_all = {"datasets": len(ranking.scores), "friedman": ranking.p}
    models = [
        {"model": model, "rank": rank, "scored": ranking.scored[model], **of_all}
        for model, rank in ranking.average.items()
    ]
    pairs = pd.DataFrame(ranking.pairs()).rename(columns={"a": "model", "b": "other"})
    out = [
        {"model": model, "reason": f"{labels[model]}: no number on more than half of the data sets"}
        for model in ranking.lacking
    ]
    ranked = pd.concat([pd.DataFrame(models), pairs], ignore_index=True).assign(reason="")
    return arranged([ranked, pd.DataFrame(out)])
