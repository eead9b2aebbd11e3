"""Figures that are drawn for a test, from files that it writes at the paths of a study's results."""

import json
from pathlib import Path

import pandas as pd
import skops.io
import yaml

from entrolab.data.dataset import DataUnavailable, recording_unavailability, save_dataset, save_folds
from entrolab.experiments.measuring import frame
from entrolab.figures.making import make_figure
from entrolab.io.files import FILES
from entrolab.results.frames import read_figure
from entrolab.study.config import load_study
from entrolab.tables.making import COLUMNS
from entrolearn.plotting import description_of


class Results:
    """The results of a study in a folder; figures are drawn there in all their formats."""

    def __init__(self, folder, study, catalog):
        self.folder, self.study, self.catalog = folder, study, catalog

    def load(self, entry):
        """The study with one figure, of a caption that is written by an attacker."""
        figures = {"figure": {"caption": HOSTILE, **entry}}
        file = self.folder / "mine.yaml"
        file.write_text(yaml.safe_dump({**self.study, "figures": figures}, sort_keys=False))
        return load_study(file, self.catalog)

    def draw(self, entry):
        """The figure's csv; its picture has the alternative text."""
        study, outputs = self.load(entry), [self.folder / f"figure.{suffix}" for suffix in ("svg", "csv")]
        files = [str(self.folder / file) for file in study.files_of_figure("figure")]
        drawing = make_figure(study.spec_of_figure("figure"), files, list(map(str, outputs)))
        assert all(output.stat().st_size for output in outputs)
        assert self.text == drawing.text != ""
        table = read_figure(outputs[-1])
        assert table.columns[-1] == "reason"
        return table

    @property
    def text(self):
        """The alternative text of the figure that was drawn."""
        return description_of(self.folder / "figure.svg")

    @property
    def svg(self):
        return (self.folder / "figure.svg").read_text()

    def path(self, stage, dataset="", model="", table="") -> Path:
        names = {"study": "mine", "seed": 0, "dataset": dataset, "model": model, "table": table}
        path = self.folder / FILES[stage].format(**names)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def data(self, dataset, data, folds=None):
        """Write a data set, prepared and scaled, and its splits; a text is the reason for having none."""
        for stage in ("data", "scaled"):
            if isinstance(data, str):
                with recording_unavailability(self.path(stage, dataset)):
                    raise DataUnavailable(data)
            else:
                save_dataset(self.path(stage, dataset), data)
        if folds is not None:
            save_folds(self.path("folds", dataset), folds)
        return data

    def record(self, dataset, model, reason="", data=()):
        """Write the record of a run, which failed if there is a reason; "no data: 404" has a status."""
        status = "no data" if reason.startswith("no data") else "failed" if reason else "ok"
        content = {"dataset": dataset, "success": not reason, "status": status, "error": reason}
        self.path("record", dataset, model).write_text(json.dumps({**content, "data": dict(data)}))

    def candidates(self, dataset, model, rows, reason=""):
        """Write the candidates of a run, with columns params, score of a metric, error and so on."""
        self.record(dataset, model, reason)
        pd.DataFrame(rows).to_parquet(self.path("candidates", dataset, model))

    def predictions(self, dataset, model, rows, selected, reason=""):
        """Write the predictions of a run and the candidates that criteria selected."""
        self.record(dataset, model, reason)
        pd.DataFrame(rows).to_parquet(self.path("predictions", dataset, model))
        pd.DataFrame(selected).to_parquet(self.path("selection", dataset, model))

    def fitted(self, dataset, model, fitted, criterion="cv", reason=""):
        """Write a refitted model; a text is the reason why nothing was selected."""
        self.record(dataset, model, reason)
        folder = self.path("models", dataset, model)
        folder.mkdir(exist_ok=True)
        facts = {"error": fitted}
        if not isinstance(fitted, str):
            file = folder / f"{criterion}.skops"
            skops.io.dump(fitted, file)
            facts = {"format": "skops", "types": skops.io.get_untrusted_types(file=file)}
        (folder / f"{criterion}.json").write_text(json.dumps(facts))

    def measured(self, table, dataset, rows):
        """Write the rows of a measurement."""
        frame(rows).to_parquet(self.path("measured", dataset, table=table))

    def table(self, table, rows):
        """Write the csv of a table."""
        filled = pd.DataFrame(rows, columns=COLUMNS).assign(verdict="ours only", reason="")
        filled.to_csv(self.path("tables", table=table), index=False)


HOSTILE = 'a <script>alert("1")</script> & caption'
