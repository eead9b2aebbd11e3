"""What decides a measurement, and the file of its script.

The workflow imports this module before any job starts, so it must not import slow packages.
"""

import os
from pathlib import Path
from types import SimpleNamespace

PACKAGE = Path(__file__).resolve().parents[1]
# An installed package has the workflow in a folder of its own; else both are in a checkout.
HOME = next(folder for folder in (PACKAGE / "project", PACKAGE.parents[1]) if folder.is_dir())
FOLDER = HOME / "workflow" / "scripts" / "experiments"


class Measurement(SimpleNamespace):
    """All that decides what is measured for a table on a data set; a script is given it as ``at``.

    Attributes
    ----------
    study, table, dataset : str
        Its address; the data set is "generated" for tables that generate their data.
    task : str
        The task of the data set, or of the data to generate.
    seed : int
    script : str
        The script as the study names it.
    params : mapping
        The table's ``params``.
    models, steps, grids, protocol : mapping
        The parts of the study that the script asks for, see :data:`entrolab.experiments.scripts.GIVEN`.
    progress : callable
        Takes the number of parts done and of all parts.
    """

    progress = staticmethod(lambda done, total: None)

    def learners(self) -> dict[str, dict]:
        """All that may be fitted, by model: its learner, its steps, and the grids of both."""
        models, steps, grids = (getattr(self, part, {}) for part in ("models", "steps", "grids"))
        nothing = {"estimator": None, "params": {}}
        return {
            name: nothing | {"steps": steps.get(name, [])} | models.get(name, {}) | grids.get(name, {})
            for name in {**models, **steps}
        }


def path_of(script: str, study_file: str) -> Path:
    """The file of a script: of this project by its name, or a path, relative to the study's file."""
    if script.endswith(".py"):
        return Path(os.path.normpath(Path(study_file).parent / script))
    return FOLDER / f"{script}.py"
