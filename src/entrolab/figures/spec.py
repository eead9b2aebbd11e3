"""The spec of a figure."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from entrolab.text import full_label

Pair = tuple[str, str]  # data set and model


class Refit(NamedTuple):
    """The refitted model of a run: its criterion, import paths of its parts, the study's format, protocol."""

    criterion: str
    parts: list[str]
    model_format: str
    protocol: dict


@dataclass(frozen=True)
class FigureSpec:
    """All that decides a figure, apart from its files; the figure is drawn again when the spec changes.

    Attributes
    ----------
    entry : FigureType
        The entry in the study, without its notes.
    seed : int
        The seed of the models that the figure fits.
    sources : list of (str, str, str)
        The stage, the data set and the model of each file, panel by panel.
    models : dict
        The label and the second line of each model that is shown.
    learners : dict
        The learners that the figure fits, by data set and model.
    refits : dict
        The refitted models that are shown, by data set and model.
    script : str
        The file of a script.
    """

    entry: Any
    seed: int
    sources: list[tuple[str, str, str]]
    models: dict[str, Any] = field(default_factory=dict)
    learners: dict[Pair, dict] = field(default_factory=dict)
    refits: dict[Pair, Refit] = field(default_factory=dict)
    script: str = ""

    @property
    def datasets(self) -> list[str]:
        """The data sets that are shown."""
        return list(dict.fromkeys(dataset for _, dataset, _ in self.sources))

    def name_of(self, model: str) -> str:
        """The label of a model with its second line, and with its key if an earlier model has the same."""
        name = full_label(self.models[model])
        first = next(key for key, named in self.models.items() if full_label(named) == name)
        return name if model == first else f"{name} ({model})"

    def title_of(self, dataset: str, model: str) -> str:
        """The title of the panel of a data set and a model: the data set only where there are several."""
        if not model:
            return dataset
        name = self.name_of(model)
        return name if len(self.datasets) == 1 else f"{dataset}, {name}"
