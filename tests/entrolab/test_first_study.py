"""`entrolab init`: what it writes is accepted, and it says what it left out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from entrolab.schema.sections import ConfigError
from entrolab.study.config import in_one_line, load_study, read_yaml
from entrolab.study.first_study import main as init

N = 40
# Noise, of which no column tells the label.
NOISE = {name: np.random.default_rng(place).normal(size=N).round(3) for place, name in enumerate("ab")}
HALVES = ["yes", "no"] * (N // 2)


def tabled(label, name="y", **columns):
    """A table with two features of noise, the columns given, and a label."""
    return pd.DataFrame({**NOISE, **columns, name: label})


def written(table, label="y"):
    """The data set and the study that `init` writes of a table, and what it prints besides."""
    init([str(table), "--label", label, "--output", "mine.yaml"])
    study = load_study(Path("mine.yaml"), {})
    ((name, own),) = yaml.safe_load(Path("mine.yaml").read_text())["datasets"].items()
    return own, study.own_data[name], study


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, in_one_process):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("frame", "label", "task", "own"),
    [
        (tabled(HALVES), "y", "binary", {}),
        (tabled([f"c{k % 13}" for k in range(N)]), "y", "multiclass", {}),
        (tabled(np.arange(N) % 25), "y", "regression", {}),
        # YAML's own words and numbers are in quotes.
        *((tabled(HALVES, name), name, "binary", {}) for name in ("no", "12:30", "1e3")),
        (tabled(HALVES, **{"0x1f": ["cash", "not"] * (N // 2)}), "y", "binary", {"drop": ["0x1f"]}),
    ],
)  # fmt: skip
def test_what_init_writes_is_accepted(frame, label, task, own):
    frame.to_csv("table.csv", index=False)
    given, entry, _ = written("table.csv", label)
    assert given == {"file": "table.csv", "label": label, **own}
    assert entry["task"] == task
    assert {*entry["format"]["columns"]} == {*frame.columns} - {label, *own.get("drop", ())}


def test_two_hundred_classes_and_a_long_name_are_accepted():
    tabled(HALVES).sample(600, replace=True, random_state=0).assign(
        y=[f"c{k % 200}" for k in range(600)]
    ).to_csv(f"{'long' * 40}.csv", index=False)
    _, entry, study = written(f"{'long' * 40}.csv")
    assert (entry["expect"]["classes"], study.protocol.folds) == (200, 3)


@pytest.mark.parametrize(
    ("content", "encoding", "columns"),
    [
        # The same 40 rows in three dialects: a number, a date, a code and a label.
        ("x;day;zip;y\n{x_comma};{de};{zip};{y}\n", "cp1252", "%d.%m.%Y"),
        ("x\tday\tzip\ty\n{x_comma}\t{iso}\t{zip}\t{y}\n", "utf-16", "date"),
        ("x day zip y\n{x} {us} {zip} {y}\n", "utf-8", "%m/%d/%Y"),
    ],
)
def test_tables_in_many_dialects_are_one_table(content, encoding, columns):
    head, row = content.rstrip("\n").rsplit("\n", 1)
    rows = [
        row.format(
            x=x,
            x_comma=str(x).replace(".", ","),
            de=f"{day:%d.%m.%Y}",
            us=f"{day:%m/%d/%Y}",
            iso=f"{day:%Y-%m-%d}",
            zip=f"{k % 3:05}",
            y=HALVES[k].replace("yes", "größer"),
        )
        for k, (x, day) in enumerate(zip(NOISE["a"], pd.date_range("2025-03-01", periods=N), strict=True))
    ]
    Path("table.csv").write_bytes("\n".join([head, *rows, ""]).encode(encoding))
    own, entry, _ = written("table.csv")
    assert own["read"]["dtype"] == {"zip": "str"}
    assert entry["format"]["columns"] == {"x": None, "day": columns, "zip": ["00000", "00001", "00002"]}
    assert entry["expect"]["rows"] == N
    assert entry["positive"] == ["no"]  # the last of two


def test_init_says_what_it_read_each_column_as_and_left_out(capsys):
    frame = tabled(HALVES, number=np.arange(N), paid=["cash", "not"] * (N // 2))
    frame["39"], frame["share"] = range(0, 3 * N, 3), [f"{k % 7} %" for k in range(N)]
    frame.to_csv("table.csv", index=False)
    own, entry, _ = written("table.csv")
    said = capsys.readouterr().out
    for what in ("numbers: a, b, 39", "number (the number", "paid (alone", "share is", "missing: 39"):
        assert what in said
    assert (own["drop"], [*entry["left_out"]]) == (["paid"], ["number"])


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("table.xlsx", b"PK\x03\x04"),
        ("table.csv", None),
        ("table.csv", b"a,b\n1,2\n"),
        ("table.csv", b"a,y\n1,2,3\n"),
        ("table.csv", b"a,y\n\x81,2\n"),
        ("table.csv", b""),
        ("table.csv", b"a,y\n1,u\n2,u\n3,v\n"),
        ("table.csv", b"a,y\n1,u\n2,u\n3,v\n4,v\n5,w\n"),
        ("table.parquet", b"PAR1"),
    ],
)
def test_refusals_are_one_line_that_names_the_users_file(table, content):
    if content is not None:
        Path(table).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        init([table, "--label", "y"])
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(("label: ", "task: ", "file: ", f"{table}: "))
    assert ".yaml" not in message
    assert not Path("table.yaml").exists()


@pytest.mark.parametrize("text", ["no", "on", "12:30", "017", "0x1f", "1_000", "2026-11-23", "=", ""])
def test_what_only_another_version_of_yaml_reads_as_a_value_is_text(text):
    Path("mine.yaml").write_text(in_one_line({"label": text}))
    assert read_yaml(Path("mine.yaml")) == yaml.safe_load(Path("mine.yaml").read_text()) == {"label": text}
    Path("mine.yaml").write_text(f"label: {text}\n")
    assert read_yaml(Path("mine.yaml")) == {"label": text or None}
