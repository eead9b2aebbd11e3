"""Definition of the catalog of data sets (config/datasets.yaml)."""

from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, model_validator

from entrolab.schema.scripts import functions, params_of
from entrolab.schema.sections import (
    Section,
    Text,
    Whole,
    by,
    described,
    list_of,
    mapping_of,
    matching,
    one_of,
    wrong,
)

Key = matching(
    r"[a-z0-9]+(-[a-z0-9]+)*",
    "a key of lower-case letters, digits and single hyphens, at most 100 in all",
    at_most=100,
)
Label = described(str | int, "a text or a whole number")


class Named(Section):
    """A format or a generator, whose other keys are the parameters of its function."""

    name: str


_DATA = Path(__file__).parents[1] / "data"
FORMATS = {
    file.stem: params_of(functions(file)["read"], without=("paths",), base=Named)
    for file in sorted(_DATA.glob("formats/*.py"))
    if file.stem not in ("__init__", "table")  # a table of a study's own has keys of its own
}
GENERATORS = {
    name: params_of(function, base=Named) for name, function in functions(_DATA / "generators.py").items()
}


# ------------------------------------------------------------------------------------------------- the entry


class File(Section):
    """A file to download. The checksum is left out only if none has been published."""

    # File names are limited to 255 characters, with those that the download appends.
    path: matching(
        r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*",
        "a relative path of at most 200 letters, digits, '.', '_' and '-'",
        at_most=200,
    )
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


class ExpectedClasses(Expected):
    classes: Whole


# Source -> the keys required with it, which other sources do not accept.
OF_SOURCE = {"files": ("files", "format"), "bundled": ("loader",), "generated": ("generator",)}
LOADERS = ("breast_cancer", "diabetes", "digits", "iris", "wine")


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
        if self.format and self.format.name == "idx" and len(self.files) % 2:
            raise wrong(f"found {len(self.files)} idx files; accepted: pairs of images and their labels")
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
