"""Base class of the figures that are drawn from refitted models."""

from pathlib import Path

from entrolab.figure_types.base import OfSelectedModels
from entrolab.fit.learners import made_of


class OfStoredModels(OfSelectedModels):
    """Figures of the refitted models."""

    stages = ("model",)

    def spec(self, name, figure, study, seed):
        learners = {model: made_of(study["models"][model]) for model in figure["models"]}
        return super().spec(name, figure, study, seed) | {"learners": learners}


def stored_model(model: str, file: str, record, spec):
    """The refitted model of a run.

    Raises
    ------
    NothingToDraw
        If there is none; the message says why.
    """
    from entrolab.figure_types.drawing import NothingToDraw, check_success
    from entrolab.io.model_io import load
    from entrolab.io.records import read_json

    check_success(record)
    if not Path(file).stat().st_size:
        raise NothingToDraw(read_json(Path(file).with_suffix(".json"))["error"])
    return load(file, spec["learners"][model])
