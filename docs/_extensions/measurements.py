"""What pages show of measurements: Markdown, made when the site is built, of the csv files in ``docs``."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from benchmarks import feature_learning, table
from benchmarks.board import answer
from entrolab import outcomes

ROOT = Path(__file__).parents[2]


def counts() -> dict[str, object]:
    """The outcomes of claims and the counts of verdicts; of each study, the three numbers of its results."""
    claims = outcomes.read_stored(ROOT / outcomes.CLAIMS, outcomes.OF_CLAIMS)
    tables = outcomes.read_stored(ROOT / outcomes.TABLES, outcomes.OF_TABLES)
    first = tables[tables["second reading of"] == ""].groupby("study")
    shares = {study: " | ".join(outcomes.shares(rows)) for study, rows in first}
    return {"counts": outcomes.page_of(claims, tables), "shares": shares}


# Page -> what fills its template.
PAGES: Mapping[str, Callable[[], dict[str, object]]] = {
    "benchmarks": lambda: {"table": table.markdown(table.read())},
    "feature-learning": lambda: {"means": feature_learning.summary(pd.read_csv(feature_learning.FOUND))},
    "results": counts,
    "which-learner": lambda: {"boards": answer.page_text(answer.finished(answer.read_rows()))},
}
