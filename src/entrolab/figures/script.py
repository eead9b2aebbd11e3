"""Figures of a single study: a script draws them from the files that the study names."""

from dataclasses import replace
from typing import Any

from pydantic import ValidationError, model_validator

from entrolab.figures.base import OF_TABLES, STAGES, TRAINED, FigureType
from entrolab.io.files import FIGURES, script_file
from entrolab.schema.scripts import read_script
from entrolab.schema.sections import (
    ConfigError,
    Text,
    described,
    list_of,
    mapping_of,
    mistakes_of,
    one_of,
    unknown,
    wrong,
)
from entrolab.tables.entries import WithParams

Models = list_of(str, at_most=12) | mapping_of(WithParams, "models by name", at_most=12)


class Script(FigureType):
    """A figure that the function ``draw(files, **params)`` of a script draws, for a single study.

    `files` is :class:`entrolab.figures.files.Files`; the function returns a
    :class:`entrolab.figures.drawing.Drawing`.
    """

    # A name in workflow/scripts/figures, or a path with .py from the folder of the study.
    script: Text
    of: one_of(*STAGES)
    datasets: str = None
    models: described(Models, "a list of one to twelve model names, or {name: {params: parameters}}") = []
    table: str = None
    metric: described(
        str | list_of(str), "a metric, or a list of metrics; each data set uses those that fit"
    ) = None
    criterion: str = None
    # The keyword arguments of `draw`.
    params: dict[str, Any] = {}

    @model_validator(mode="after")
    def _has_what_it_is_drawn_from(self):
        of_data = ["datasets", "models"] if self.of in TRAINED else ["datasets"]
        needed, absent = (["table"], ["models"]) if self.of in OF_TABLES else (of_data, ["table"])
        absent += ["datasets"] if self.of == "measured" else []
        for key in needed:
            if not getattr(self, key):
                raise wrong(f"the key {key!r} is missing, for a script of {self.of}")
        for key in absent:
            if getattr(self, key):
                raise wrong(f"found {key!r} beside 'of: {self.of}'; accepted: {' and '.join(needed)}")
        return self

    def mistakes(self, study, catalog):
        yield from super().mistakes(study, catalog)
        if self.of in OF_TABLES:
            tables = [name for name, one in study.tables.items() if self.of in ("table", one.type)]
            yield from unknown(
                self.table, tables, "table", f"{'' if self.of == 'table' else 'measured '}table"
            )
        try:
            script = read_script(FIGURES, self.script, study.file, "draw", ("files",))
            script.Params.model_validate(self.params)
        except ConfigError as error:
            yield f"script: {error}"
        except ValidationError as error:
            yield from (f"{place}: {line}" for place, line in mistakes_of(error, "params"))

    def sources(self, study):
        of_table = [*super().sources(study)]
        group = study.datasets[self.datasets] if self.of == "table" and self.datasets else ()
        return [*of_table, *(("data", dataset, "") for dataset in group)]

    def spec_of(self, study, seed):
        file = script_file(FIGURES, self.script, study.file)
        return replace(super().spec_of(study, seed), script=str(file))

    def params_of(self, model):
        return (self.models[model].params or {}) if isinstance(self.models, dict) else {}

    def draw(self, files):
        import runpy

        return runpy.run_path(files.spec.script)["draw"](files, **self.params)
