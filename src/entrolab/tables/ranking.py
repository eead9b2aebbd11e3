"""Average ranks of several models over several data sets, and which of them differ significantly.

The procedure is Demšar's: Friedman's test of all models, then two tests of each pair. Nemenyi's test compares
average ranks, which depend on the other models of the comparison. Wilcoxon's test with Holm's correction
compares only the scores of the two models; diagrams show it unless the data sets are too few for any
difference to be significant.

References
----------
J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1–30.
A. Benavoli, G. Corani and F. Mangili, Should we really use post-hoc tests based on mean-ranks?, JMLR 17
(2016) 1–10.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from entrolab.fit.metrics import METRICS
from entrolab.fit.run import BASELINE
from entrolab.tables.evidence import holm
from entrolab.tables.verdicts import KNOWN

# The significance level of critical differences and of groups.
ALPHA = 0.05
# Fewer models or data sets are not tested.
LEAST_MODELS, LEAST_DATASETS = 3, 5
# Stands for a missing score: so low that all differences to it are equal in double precision.
LOST = -1e300
# Scores are compared with this many digits, because equal decimals may differ as floats.
SIGNIFICANT_DIGITS = 12
# The most data sets for Wilcoxon's exact p-values; with more, the normal approximation is used.
MOST_EXACT = 50
# The tests of pairs in words.
TESTS = {"wilcoxon": "Wilcoxon's test with Holm's correction", "nemenyi": "Nemenyi's test"}


@dataclass(frozen=True)
class Ranking:
    """Average ranks of models over data sets, and tests of their differences.

    Models are in the order of their average ranks, the best first; frames of scores and ranks have a row for
    each data set.
    """

    scores: pd.DataFrame  # NaN where a model has none
    ranks: pd.DataFrame  # 1 for the best model of a data set, ties averaged
    average: pd.Series
    friedman: float  # chi-square with n_models - 1 degrees of freedom, corrected for ties
    p: float  # of Friedman's test
    critical_difference: float  # the least that is significant by Nemenyi's test
    nemenyi: pd.DataFrame  # p-values of pairs
    wilcoxon: pd.DataFrame  # the same of the signed-rank test, with Holm's correction for the number of pairs
    shown_test: str  # of groups(), see the function of this name
    lacking: tuple[str, ...]  # models left out: without a number on more than half of the data sets
    empty: tuple[str, ...]  # data sets left out: none of the other models has a number there

    @property
    def scored(self) -> pd.Series:
        """The number of data sets on which each model has a number."""
        return self.scores.notna().sum()

    @property
    def _alike(self) -> pd.DataFrame:
        """Whether two models do not differ significantly by the test that is shown."""
        return getattr(self, self.shown_test) >= ALPHA

    def pairs(self) -> Iterator[dict]:
        """Yield a row for every two models, the better one first: p-values, wins, ties and losses."""
        for a, b in itertools.combinations(self.average.index, 2):
            counted = dict(zip(("wins", "ties", "losses"), self.wins(a, b), strict=True))
            tests = {"nemenyi": self.nemenyi.loc[a, b], "wilcoxon": self.wilcoxon.loc[a, b]}
            yield {"a": a, "b": b, **tests, **counted}

    def wins(self, a: str, b: str) -> tuple[int, int, int]:
        """The numbers of data sets on which model `a` is better than, equal to and worse than model `b`."""
        ahead = np.sign(self.ranks[b] - self.ranks[a])
        return int((ahead > 0).sum()), int((ahead == 0).sum()), int((ahead < 0).sum())

    def not_different_from(self, model: str) -> list[str]:
        """The models that do not differ significantly from a model, the best first."""
        alike = self._alike[model].drop(model)
        return alike.index[alike].tolist()

    def groups(self) -> list[list[str]]:
        """The largest groups of models without a significant difference, one for each bar of a diagram.

        Two models differ significantly if and only if no group contains both. With Wilcoxon's test, a model
        that ranks between two models of a group need not belong to it.
        """
        models = self.average.index
        alike = self._alike.loc[models, models].to_numpy() & ~np.eye(len(models), dtype=bool)
        beside = {one: set(np.flatnonzero(row)) for one, row in enumerate(alike)}
        bars = sorted(sorted(group) for group in _cliques(beside) if len(group) > 1)
        return [[models[one] for one in bar] for bar in bars]

    def rule(self, labels: Mapping[str, str] | None = None) -> str:
        """The models and data sets that are ranked, and the treatment of missing numbers, in sentences."""
        labels = labels or {}
        said = [f"{len(self.average)} models on {len(self.scores)} data sets."]
        for names, why in (
            (self.lacking, "without a number on more than half of the data sets"),
            (self.empty, "since none of the models has a number there"),
        ):
            if names:
                said.append(f"Left out, {why}: {', '.join(labels.get(name, str(name)) for name in names)}.")
        if self.scores.isna().to_numpy().any():
            said.append(
                "A model without a number on a data set ranks last there, and counts in Wilcoxon's test as "
                "losing by more than any other difference."
            )
        if self.shown_test == "nemenyi":
            n_pairs, p = _least_p(*self.scores.shape)
            said.append(
                f"On {len(self.scores)} data sets, not even a model that wins on all of them would differ "
                f"significantly by {TESTS['wilcoxon']} for {n_pairs} pairs (p = {p:.2g}): the diagram shows "
                f"{TESTS['nemenyi']}."
            )
        return " ".join(said)

    def in_words(self, labels: Mapping[str, str]) -> str:
        """The average ranks, and the models without a significant difference from the best, in sentences."""
        ranks = ", ".join(f"{labels[model]} {rank:.2f}" for model, rank in self.average.items())
        alike = ", ".join(labels[model] for model in self.not_different_from(self.average.index[0]))
        return (
            f"Average ranks on {len(self.scores)} data sets, the best first: {ranks}. "
            f"Not significantly different from the best by {TESTS[self.shown_test]}: {alike or 'none'}."
        )


def rank_models(scores: pd.DataFrame, *, greater_is_better: bool = True) -> Ranking | None:
    """Rank models over data sets and test their differences.

    Data sets on which no model has a number are left out, then models without a number on more than half of
    the remaining data sets. Numbers still missing are failed fits: models that failed on a data set share the
    last rank there. `scores` has a row for each data set and a column for each model, NaN or infinite where
    there is no number. The result is None for fewer than three models or five data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from entrolab.tables.ranking import rank_models
    >>> scores = pd.DataFrame({"a": [9, 8, 9, 7, 9], "b": [8, 7, 8, 6, 8], "c": [7, 9, 7, 5, 7]})
    >>> ranking = rank_models(scores)
    >>> ranking.average.to_dict()
    {'a': 1.2, 'b': 2.2, 'c': 2.6}
    >>> ranking.wins("a", "c")
    (4, 0, 1)
    """
    kept, lacking = _kept(scores)
    n_datasets, n_models = kept.shape
    if n_models < LEAST_MODELS or n_datasets < LEAST_DATASETS:
        return None
    ranks = _ranks(kept, greater_is_better)
    average = average_ranks(kept, greater_is_better)
    kept, ranks = kept[average.index], ranks[average.index]
    # Friedman's statistic is undefined for models that tie everywhere; they do not differ.
    ties = (ranks.nunique(axis=1) == 1).all()
    friedman, p = (0.0, 1.0) if ties else map(float, stats.friedmanchisquare(*ranks.to_numpy().T))
    width = stats.studentized_range.isf(ALPHA, n_models, math.inf) / math.sqrt(2)
    return Ranking(
        scores=kept,
        ranks=ranks,
        average=average,
        friedman=friedman,
        p=p,
        critical_difference=width * math.sqrt(n_models * (n_models + 1) / (6 * n_datasets)),
        nemenyi=_nemenyi(average, n_datasets),
        wilcoxon=_wilcoxon(kept if greater_is_better else -kept),
        shown_test=shown_test(n_datasets, n_models),
        lacking=tuple(lacking),
        empty=tuple(scores.index.difference(kept.index, sort=False)),
    )


def average_ranks(scores: pd.DataFrame, greater_is_better: bool) -> pd.Series:
    """The average rank of each model over data sets, the best first; a missing score ranks last."""
    return _ranks(scores, greater_is_better).mean().sort_values(kind="stable")


def shown_test(n_datasets: int, n_models: int) -> str:
    """The test of pairs that a diagram shows, a key of `TESTS`.

    It is Wilcoxon's, unless not even a model that wins on every data set would differ significantly after
    Holm's correction.

    Examples
    --------
    >>> from entrolab.tables.ranking import shown_test
    >>> shown_test(14, 4), shown_test(9, 9)
    ('wilcoxon', 'nemenyi')
    """
    return "wilcoxon" if _least_p(n_datasets, n_models)[1] < ALPHA else "nemenyi"


def scores_of(table: pd.DataFrame, metric: str, column: str = "ours") -> pd.DataFrame:
    """One metric of a table of scores, data sets × models in the table's order, of models that compete.

    The baseline and models with known values do not. The column is "ours" or "published"; for `table` see
    :func:`entrolab.results.frames.read_table`.
    """
    known = table.loc[table["verdict"] == KNOWN, "model"]
    rows = table[(table["metric"] == metric) & ~table["model"].isin([BASELINE, *known])]
    wide = rows.pivot(index="dataset", columns="model", values=column)
    return wide.loc[rows["dataset"].unique(), rows["model"].unique()]


def rank_table(table: pd.DataFrame, metric: str) -> Ranking | None:
    """The ranking of the models of a table of scores by one of its metrics; see :func:`rank_models`."""
    return rank_models(scores_of(table, metric), greater_is_better=METRICS[metric].greater_is_better)


def _kept(scores: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The models and data sets that are ranked, and the models that are not."""
    kept = scores.where(np.isfinite(scores)).dropna(how="all")
    lacking = kept.columns[kept.isna().sum() > len(kept) / 2]
    return kept.drop(columns=lacking).dropna(how="all"), list(lacking)


def _ranks(scores: pd.DataFrame, greater_is_better: bool) -> pd.DataFrame:
    return scores.rank(axis=1, ascending=not greater_is_better, na_option="bottom")


def _least_p(n_datasets: int, n_models: int) -> tuple[int, float]:
    """The number of pairs, and the least p-value of Wilcoxon's test after Holm's correction."""
    n_pairs = math.comb(n_models, 2)
    return n_pairs, min(1.0, n_pairs * 2.0 ** (1 - n_datasets))


def _cliques(
    beside: Mapping[int, set[int]],
    group: frozenset[int] = frozenset(),
    others: set[int] | None = None,
    done: frozenset[int] = frozenset(),
) -> Iterator[frozenset[int]]:
    """Yield the largest groups whose members are all beside each other, by Bron and Kerbosch's algorithm.

    `others` are beside all of `group`; groups with one of `done` have been found.
    """
    others = set(beside) if others is None else others
    if not others and not done:
        yield group
    for one in sorted(others):
        yield from _cliques(beside, group | {one}, others & beside[one], done & beside[one])
        others, done = others - {one}, done | {one}


def _nemenyi(average: pd.Series, n_datasets: int) -> pd.DataFrame:
    """p-values of Nemenyi's test of each pair, by the studentised range of average ranks."""
    n_models = len(average)
    error = math.sqrt(n_models * (n_models + 1) / (12 * n_datasets))
    apart = np.abs(np.subtract.outer(average.to_numpy(), average.to_numpy()))
    p_values = stats.studentized_range.sf(apart / error, n_models, math.inf)
    return pd.DataFrame(p_values, average.index, average.index)


def _wilcoxon(scores: pd.DataFrame) -> pd.DataFrame:
    """p-values of Wilcoxon's test of each pair, with Holm's correction.

    Following Demšar, zero differences are split between the signs, tied ranks averaged, p-values exact.
    """
    method = "exact" if len(scores) <= MOST_EXACT else "asymptotic"
    pairs = list(itertools.combinations(scores, 2))
    apart = (_ordered(scores[a].to_numpy(), scores[b].to_numpy()) for a, b in pairs)
    found = [stats.wilcoxon(one, zero_method="zsplit", method=method).pvalue for one in apart]
    p_values = pd.DataFrame(1.0, index=scores.columns, columns=scores.columns)
    for (a, b), p in zip(pairs, holm(found), strict=True):
        p_values.loc[a, b] = p_values.loc[b, a] = p
    return p_values


def _ordered(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Integers with the signs and the order of the differences of scores, 0 for equal decimals."""
    unit = np.fmax(np.abs(a), np.abs(b)) * 10.0**-SIGNIFICANT_DIGITS
    apart = np.nan_to_num(a, nan=LOST) - np.nan_to_num(b, nan=LOST)
    size = np.where(np.abs(apart) > unit, np.abs(apart), 0.0)
    order = np.argsort(size)
    level = np.empty(len(size))
    level[order] = np.cumsum(np.diff(size[order], prepend=0.0) > unit[order])
    return np.sign(apart) * level
