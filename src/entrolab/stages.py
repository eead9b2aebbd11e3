"""The selection stage of a cell, from files to files."""

import logging
from collections.abc import Mapping

from entrolab.atomic import replacing
from entrolab.dataset import load_dataset, load_folds
from entrolab.frames import read_frame, write_frame
from entrolab.probabilities import score_chosen
from entrolab.records import read_json, write_json
from entrolab.selecting import choose, headline_params, refit
from entrolab.stored import dump, types_in
from entrolearn.path import describe

logger = logging.getLogger(__name__)


def select(
    dataset: str,
    folds: str,
    candidates: str,
    record: str,
    scores: str,
    fitted: str,
    facts: str,
    cell: Mapping,
) -> None:
    """Read a cell's candidates; write what each criterion chose, the model fitted for good and its facts.

    A cell without a result leaves an empty file in the model's place and the reason among the facts.
    """
    chosen = choose(read_frame(candidates), cell)
    outcome = read_json(record)
    if cell["probabilities"] and outcome["success"]:
        chosen = score_chosen(load_dataset(dataset), load_folds(folds), chosen, cell)
    write_frame(scores, chosen)
    model, found = b"", {"error": outcome["error"]}
    params = headline_params(chosen, cell)
    if outcome["success"] and params is None:
        found = {"error": _nothing_chosen(cell)}
    elif outcome["success"]:
        model, found = _refit(dataset, folds, params, cell)
    with replacing(fitted) as temporary:
        temporary.write_bytes(model)
    write_json(facts, found)


def _nothing_chosen(cell: Mapping) -> str:
    if not cell["criteria"]:
        return "no criterion chooses from this grid: all of it is shown"
    return f"{cell['criteria'][0]} is undefined for every candidate"


def _refit(dataset: str, folds: str, params: Mapping, cell: Mapping) -> tuple[bytes, dict]:
    try:
        estimator, facts = refit(load_dataset(dataset), load_folds(folds), params, cell)
        model = dump(estimator)
        return model, facts | {"types": types_in(model)}
    except Exception as error:  # a learner may fail in any way; the scores stand without the model
        logger.exception("the chosen model could not be fitted for good")
        return b"", {"error": describe(error)}
