"""What decides a measurement, and what its script is given.

The workflow imports this module before any job starts, so it must not import slow packages.
"""

from types import SimpleNamespace

# The parts of a study that a script is given under these names.
GIVEN = {
    "rows": "the data set, with `raw` and `scaled`",
    "at": "the study, table, data set, its task, and the seed",
    "models": "the learners of the table's models by name, for the task of the data set",
    "steps": "the steps of the table's models by name, or the learner of a model without steps",
    "grids": "the grid of each model, or of its steps, and the learners that it selects from",
    "protocol": "the study's protocol for the data set, of one repeat",
}


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
        The parts of the study that the script asks for, see :data:`GIVEN`.
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
