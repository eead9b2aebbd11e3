"""The specs of what is fitted: a learner, and a run of one on a data set."""

from typing import Any

from pydantic import BaseModel, ConfigDict

BASELINE = "baseline"  # the model that always predicts the largest class, or the mean; it is never ranked


class Part(BaseModel):
    """An import path and its parameters."""

    model_config = ConfigDict(frozen=True)

    estimator: str
    params: dict[str, Any] = {}


class Alternative(Part):
    """One of the learners that a grid point names, with a grid of its own."""

    grid: dict[str, Any] = {}


class Learner(BaseModel):
    """A learner with its preprocessing and grid; values that differ between data sets are resolved.

    Attributes
    ----------
    estimator : str or None
        Import path; None with `one_of`, whose learners replace it.
    steps : list of Part
        Preprocessing fitted on the training rows.
    grid : dict
        Parameter -> its values.
    one_of : dict
        The learners that the grid also selects from, by name.
    search : dict or None
        The number of ``points`` that are drawn from the grid, and the ``seconds`` for them, or None for any.
    threshold : str or None
        The metric that tunes the threshold; everything is then fitted again in folds of the training set.
    preprocessing : dict or None
        The study's, a first step of every fit; None if the rows are scaled already.
    """

    model_config = ConfigDict(frozen=True)

    estimator: str | None = None
    params: dict[str, Any] = {}
    steps: list[Part] = []
    grid: dict[str, Any] = {}
    one_of: dict[str, Alternative] = {}
    search: dict[str, Any] | None = None
    threshold: str | None = None
    preprocessing: dict[str, str] | None = None


class Run(Learner):
    """A run: all that decides its candidates. The grid is fitted again when the run changes.

    `metrics` are those of every candidate, the first of which selects; `candidates` the criteria whose values
    they have; for `protocol` see :func:`entrolab.fit.protocols.protocol`. With `named_seeds`, random states
    depend on the names of the study and the data set. With `training_scores`, candidates have the first
    metric on the training rows.
    """

    study: str
    dataset: str
    model: str
    seed: int
    metrics: list[str]
    candidates: list[str]
    protocol: dict[str, Any]
    named_seeds: bool = True
    training_scores: bool = False

    @property
    def key(self) -> str:
        return f"{self.study}/{self.dataset}/{self.model}"
