"""Definition of the catalog of data sets (config/datasets.yaml)."""

from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, model_validator

from entrolab.schema.sections import (
    Section,
    Text,
    Whole,
    by,
    described,
    list_of,
    mapping_of,
    matching,
    number,
    one_of,
    whole,
    wrong,
)

Key = matching(
    r"[a-z0-9]+(-[a-z0-9]+)*",
    "a key of lower-case letters, digits and single hyphens, at most 100 in all",
    at_most=100,
)
Seed = whole(ge=0)
AtLeastTwo = whole(ge=2)
NonNegative = number(ge=0)
Pair = list_of(number(), at_least=2, at_most=2, unique=False)
PositivePair = list_of(number(gt=0), at_least=2, at_most=2, unique=False)
Label = described(str | int, "a text or a whole number")
Columns = list_of(whole(), unique=False)


def several(type_: Any) -> Any:
    return list_of(type_, at_least=2, unique=False)


class Named(Section):
    """A section whose key `name` selects it among alternatives."""

    name: str


# ------------------------------------------------------------------------------------------ formats of files


class Arff(Named):
    label: str = None


class Csv(Named):
    delimiter: Text = None
    header: one_of("none", "skip", "names") = None
    label: whole() = None
    label_suffix: Text = None
    drop: Columns = None
    missing: list_of(str, unique=False) = None
    categorical: Columns = None


class Mat(Named):
    features: str
    label: str


class Npz(Named):
    features: str = None
    label: str = None


class RData(Named):
    features: str = None
    label: Label = None


class Svmlight(Named):
    n_features: Whole = None
    sparse_features: bool = None
    drop_duplicate_lines: bool = None

    @model_validator(mode="after")
    def _wide(self):
        """Sparse files must state their number of features: one line could otherwise ask for any number."""
        if self.sparse_features is not None and self.n_features is None:
            raise wrong("found 'sparse_features' without 'n_features'; accepted: both")
        return self


# ------------------------------------------------------------------------------------------------ generators


def _even(value):
    if value % 2:
        raise wrong(f"found {value}; accepted: an even number")
    return value


class Gaussians(Named):
    n_samples: Annotated[AtLeastTwo, AfterValidator(_even)]
    n_features: Whole
    distance: NonNegative
    variances: PositivePair
    seed: Seed


class Rings(Named):
    n_samples: AtLeastTwo
    radii: several(NonNegative)
    noise: NonNegative
    n_classes: AtLeastTwo = None
    seed: Seed


class Spirals(Named):
    n_samples: AtLeastTwo
    n_arms: AtLeastTwo
    turns: number(gt=0)
    noise: NonNegative
    seed: Seed


class Mixture(Named):
    sizes: several(Whole)
    means: several(Pair)
    deviations: several(PositivePair)
    angles: several(number())
    seed: Seed

    @model_validator(mode="after")
    def _same_length(self):
        """There is one size, mean, pair of deviations and angle per Gaussian."""
        if len({len(self.sizes), len(self.means), len(self.deviations), len(self.angles)}) > 1:
            raise wrong("sizes, means, deviations and angles differ in number; accepted: one of each")
        return self


class StretchedGaussians(Named):
    n_samples: AtLeastTwo
    mean: Pair
    deviations: PositivePair
    seed: Seed


class Waveform(Named):
    n_samples: whole(ge=3)
    seed: Seed


class Documents(Named):
    n_samples: AtLeastTwo
    n_features: AtLeastTwo
    n_classes: AtLeastTwo
    words: number(gt=0)
    spread: NonNegative
    seed: Seed


class Phrases(Named):
    n_samples: AtLeastTwo
    n_features: AtLeastTwo
    n_pairs: whole(ge=0)
    n_classes: AtLeastTwo
    terms: number(gt=0)
    spread: NonNegative
    seed: Seed


class MackeyGlass(Named):
    n_samples: AtLeastTwo
    n_delays: Whole
    interval: Whole
    delay: Whole


class TwoMoons(Named):
    n_samples: AtLeastTwo
    noise: NonNegative
    seed: Seed


# ------------------------------------------------------------------------------------------------- the entry


def _no_receipt(path: str) -> str:
    if PurePosixPath(path).name in ("receipt.json", "attempt.json"):
        raise wrong(f"found {path!r}; accepted: another name than receipt.json and attempt.json")
    return path


class File(Section):
    """A file to download. The checksum is left out only if none has been published."""

    # Receipts are stored next to the files. File names are limited to 255 characters, with those that the
    # download appends.
    path: Annotated[
        matching(
            r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*",
            "a relative path of at most 200 letters, digits, '.', '_' and '-'",
            at_most=200,
        ),
        AfterValidator(_no_receipt),
    ]
    # A password would be copied into receipts and results.
    url: matching(r"https?://[^\s/?#@]+([/?#]\S*)?", "an http or https address without a password")
    sha256: matching("[0-9a-f]{64}", "64 lower-case hexadecimal digits") = None
    bytes: Whole = None
    part: one_of("train", "test") = None


def _names_differ(files: list[File]) -> list[File]:
    """Names of files must differ, because the files of a data set are stored in one folder."""
    seen: dict[str, str] = {}
    for path in (one.path for one in files):
        name = PurePosixPath(path).name.lower()  # some file systems ignore case
        if name in seen:
            raise wrong(
                f"found {seen[name]} and {path}, which have the same file name; accepted: names that differ"
            )
        seen[name] = path
    return files


class Expected(Section):
    """Counts that a data set must have."""

    rows: Whole
    features: Whole
    test_rows: Whole = None


class ExpectedBinary(Expected):
    negative: Whole = None
    positive: Whole = None

    @model_validator(mode="after")
    def _all_rows(self):
        if None not in (self.negative, self.positive) and self.negative + self.positive != self.rows:
            raise wrong(
                f"found {self.negative} negative and {self.positive} positive rows; accepted: {self.rows} "
                "rows together"
            )
        return self


class ExpectedClasses(Expected):
    classes: Whole


# Source -> the keys required with it, which other sources do not accept.
OF_SOURCE = {"files": ("files", "format"), "bundled": ("loader",), "generated": ("generator",)}
FORMATS = {
    "arff": Arff,
    "csv": Csv,
    "idx": Named,
    "mat": Mat,
    "npz": Npz,
    "rdata": RData,
    "svmlight": Svmlight,
}
LOADERS = ("breast_cancer", "diabetes", "digits", "iris", "wine")
GENERATORS = {
    "documents": Documents,
    "gaussians": Gaussians,
    "mackey_glass": MackeyGlass,
    "mixture": Mixture,
    "phrases": Phrases,
    "rings": Rings,
    "spirals": Spirals,
    "stretched_gaussians": StretchedGaussians,
    "two_moons": TwoMoons,
    "waveform": Waveform,
}


class DataSet(Section):
    """An entry of the catalog."""

    title: Text
    source: one_of(*OF_SOURCE)
    files: Annotated[list_of(File, unique=False), AfterValidator(_names_differ)] = None
    format: by("name", FORMATS) = None
    loader: one_of(*LOADERS) = None
    generator: by("name", GENERATORS) = None
    missing_rows: one_of("drop") = None
    constant_columns: one_of("drop") = None
    task: one_of("binary", "multiclass", "regression")
    positive: list_of(Label, unique=False) = None
    expect: Expected
    reference: Text
    licence: Text = None
    note: Text = None

    @model_validator(mode="after")
    def _keys_fit(self):
        """The keys match the source."""
        asked = {key: source for source, keys in OF_SOURCE.items() for key in keys}
        for key, source in asked.items():
            if source == self.source and key not in self.model_fields_set:
                raise wrong(f"the key {key!r} is missing")
            if source != self.source and key in self.model_fields_set:
                raise wrong(f"found {key!r}; accepted: no such key for the source {self.source!r}")
        if self.task != "binary" and "positive" in self.model_fields_set:
            raise wrong("found 'positive'; accepted: one for binary data sets, and for no others")
        return self


class Binary(DataSet):
    positive: list_of(Label, unique=False)
    expect: ExpectedBinary


class Multiclass(DataSet):
    expect: ExpectedClasses


TASKS = {"binary": Binary, "multiclass": Multiclass, "regression": DataSet}
Catalog = mapping_of(by("task", TASKS), "data sets by their keys", Key)
