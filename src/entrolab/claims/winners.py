"""The best models of each row of a score table, by significance tests over folds or trials."""

from collections.abc import Iterator

import pandas as pd

from entrolab.claims.evidence import ALPHA, holm
from entrolab.claims.numbers import Numbers, less_is_better
from entrolab.tables.base import Cell
from entrolab.tables.verdicts import KNOWN

SAYS = (
    "Bold: the best model of each row and those not significantly worse (one-sided t-test over folds at 5 %, "
    "with the corrected variance of Nadeau and Bengio and Holm's correction); no bold in rows where no model "
    "is significantly worse."
)


def winners(numbers: Numbers, table: str, rows: pd.DataFrame) -> frozenset[Cell]:
    """The cells of `rows`, the frame of a table, that are the best of their row or not significantly worse.

    The best model of a data set by a metric is tested against each other model over folds or trials. The
    result is empty for tables with published values or without scores, and if the predictions of a run have
    been deleted. It has no cells of rows where no model is significantly worse, as with a single trial.
    """
    if not numbers.study.table_type(table).ranks:
        return frozenset()
    if rows["published"].notna().any():
        return frozenset()
    try:
        return frozenset(_best(numbers, table, rows[rows["ours"].notna() & (rows["verdict"] != KNOWN)]))
    except FileNotFoundError:
        return frozenset()


def _best(numbers: Numbers, table: str, rows: pd.DataFrame) -> Iterator[Cell]:
    for (dataset, metric), cells in rows.groupby(["dataset", "metric"], sort=False):
        if len(cells) > 1:
            scores = cells.set_index("model")["ours"]
            best = scores.idxmin() if less_is_better(metric) else scores.idxmax()
            rivals = scores.index.drop(best)
            pairs = ((best, rival) for rival in rivals)
            known = [numbers.on_one(([table], [table]), dataset, pair, metric, False) for pair in pairs]
            p_values = holm([1.0 if evidence is None else evidence.above(0.0) for evidence in known])
            close = [rival for rival, p in zip(rivals, p_values, strict=True) if p > ALPHA]
            if len(close) < len(rivals):
                yield from ((dataset, model, metric) for model in (best, *close))
