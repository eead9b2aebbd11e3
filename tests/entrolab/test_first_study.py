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
RARER = ["no"] * (N - 8) + ["old"] * 8


def tabled(label, name="y", **columns):
    """A table with two features of noise, the columns given, and a label."""
    return pd.DataFrame({**NOISE, **columns, name: label})


def written(table, label="y", *options):
    """The data set and the study that `init` writes of a table, and what it prints besides."""
    init([str(table), "--label", label, *options, "--output", "mine.yaml"])
    study = load_study(Path("mine.yaml"), {})
    ((name, own),) = yaml.safe_load(Path("mine.yaml").read_text())["datasets"].items()
    return own, study.own_data[name], study


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, in_one_process):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("frame", "label", "task", "own"),
    [
        # A class of one row is in no two folds: its row is left out, and a number is a value.
        (tabled([*HALVES[:-1], "late"]), "y", "binary", {"read": {"na_values": ["late"]}, "positive": "no"}),
        (tabled([1, 2, 3] * 13 + [9]), "y", "regression", {"task": "regression"}),
        # Where most of the values are in one row, these are no classes.
        (tabled([0.0] * 30 + [k + 0.5 for k in range(10)]), "y", "regression", {}),
        (tabled(["x", "z"] * 19 + ["u", "v"]), "y", "binary", {"read": {"na_values": ["u", "v"]}}),
        # The rarer of two classes is the positive one; of equal ones the last, as in scikit-learn.
        (tabled(RARER), "y", "binary", {}),
        (tabled(["no"] * (N - 2) + ["old"] * 2), "y", "binary", {}),
        (tabled([1.0 if one == "no" else 0.0 for one in RARER]), "y", "binary", {"positive": "0"}),
        (tabled([one == "no" for one in RARER]), "y", "binary", {"positive": "False"}),
        (tabled(HALVES), "y", "binary", {}),
        (tabled([f"c{k % 13}" for k in range(N)]), "y", "multiclass", {}),
        (tabled(np.arange(N) % 25), "y", "regression", {}),
        # YAML's own words and numbers are in quotes.
        *((tabled(HALVES, name), name, "binary", {}) for name in ("no", "12:30", "1e3")),
        (tabled(HALVES, no=1, **{"0x1f": "kg"}), "y", "binary", {"drop": ["no", "0x1f"]}),
        (tabled(HALVES, user_id=np.arange(N)[::-1] ** 2), "y", "binary", {"drop": ["user_id"]}),
        (tabled(HALVES, paid=["cash", "not"] * (N // 2)), "y", "binary", {"drop": ["paid"]}),
    ],
)  # fmt: skip
def test_what_init_writes_is_accepted(frame, label, task, own):
    frame.to_csv("table.csv", index=False)
    given, entry, _ = written("table.csv", label)
    assert given == {"file": "table.csv", "label": label, **own}
    assert entry["task"] == task
    assert {*entry["format"]["columns"]} == {*frame.columns} - {label, *own.get("drop", ())}
    if task == "binary":
        assert entry["expect"]["positive"] <= entry["expect"]["negative"]


def test_two_hundred_classes_and_a_long_name_are_accepted():
    tabled(HALVES).sample(600, replace=True, random_state=0).assign(
        y=[f"c{k % 200}" for k in range(600)]
    ).to_csv(f"{'long' * 40}.csv", index=False)
    _, entry, study = written(f"{'long' * 40}.csv")
    assert (entry["expect"]["classes"], study.protocol.folds) == (200, 3)


@pytest.mark.parametrize(
    ("content", "encoding", "options", "columns"),
    [
        # The same 40 rows in four dialects: a number, a date, a code and a label.
        ("x;day;zip;y\n{x_comma};{de};{zip};{y}\n", "cp1252", [], "%d.%m.%Y"),
        ("x\tday\tzip\ty\n{x_comma}\t{iso}\t{zip}\t{y}\n", "utf-16", [], "date"),
        ("x day zip y\n{x} {us} {zip} {y}\n", "utf-8", ["--dates", "day=%m/%d/%Y"], "%m/%d/%Y"),
        ("x;day;zip;y\n{x_comma};{us};{zip};{y}\n", "utf-8", ["--sep", ";", "--decimal", ","], "%m/%d/%Y"),
    ],
)
def test_tables_in_many_dialects_are_one_table(content, encoding, options, columns):
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
    own, entry, _ = written("table.csv", "y", *options)
    assert own["read"]["dtype"] == {"zip": "str"}
    assert entry["format"]["columns"] == {"x": None, "day": columns, "zip": ["00000", "00001", "00002"]}
    assert entry["expect"]["rows"] == N
    assert entry["positive"] == ["no"]  # the last of two


def test_init_says_what_it_left_out_and_what_may_be_added(capsys):
    frame = tabled(
        HALVES,
        number=np.arange(N),
        user_id=np.arange(N)[::-1] ** 2,
        patient=np.arange(N) % 9,
        day=pd.date_range("2025-01-01", periods=N).strftime("%Y-%m-%d"),
        unit="kg",
        paid=["cash", "not"] * (N // 2),
        code=[f"text {k}" for k in range(N)],
        share=[f"{k % 7} %" for k in range(N)],
    )
    frame.to_csv("table.csv", index=False)
    own, entry, _ = written("table.csv")
    said = capsys.readouterr().out
    for name in ("number", "user_id", "unit", "paid", "code", "share"):
        assert f"{name} (" in said or f"{name} is" in said
    assert own["drop"] == ["unit", "user_id", "paid"]
    assert {*entry["left_out"]} == {"number", "code"}
    assert "`groups: patient`" in said
    assert "`time: day`" in said
    assert "groups" not in own
    assert "time" not in own


def test_init_counts_rows_that_repeat_others_and_doubts_names_that_are_numbers(capsys):
    frame = tabled(HALVES, **{"39": range(0, 3 * N, 3)})
    frame["code"] = [f"0E{k}" for k in range(N)]  # as numbers, all of them are 0
    pd.concat([frame, frame[:7]]).to_csv("table.csv", index=False)
    written("table.csv")
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in said if "repeat" in line or "names" in line] == ["39", "7"]
    assert "code (one value" not in "".join(said)


@pytest.mark.parametrize(
    ("table", "content", "options"),
    [
        ("table.xlsx", b"PK\x03\x04", []),
        ("table.csv", None, []),
        ("table.csv", b"a,b\n1,2\n", []),
        ("table.csv", b"a,y\n1,2,3\n", []),
        ("table.csv", b"a,y\n\x81,2\n", []),
        ("table.csv", b"", []),
        ("table.csv", b"a,y\n1,u\n2,u\n3,v\n", []),
        # The class of one row is a value of another column too, which would be missing.
        ("table.csv", b"a,b,y\nrare,1,u\nw,2,u\nw,3,v\nw,4,v\nrare,5,rare\n", []),
        ("table.csv", b"a,y\n1,u\n2,v\n", ["--dates", "a"]),
        ("table.csv", b"a,y\n1,u\n2,v\n", ["--encoding", "klingon"]),
        ("table.csv", b"a,y\n1,u\n2,v\n", ["--sep", ";;"]),
        ("table.csv", b"a,y\n1,u\n2,v\n", ["--thousands", "."]),
        ("table.parquet", b"PAR1", []),
    ],
)
def test_refusals_are_one_line_that_names_the_users_file(table, content, options):
    if content is not None:
        Path(table).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        init([table, "--label", "y", *options])
    message = str(caught.value)
    assert message.startswith(f"{table}: ") or (options and options[0].strip("-") in message)
    assert len(message.splitlines()) == 1
    assert "accepted" in message or "expected" in message or not content
    assert ".yaml" not in message
    assert not Path("table.yaml").exists()


@pytest.mark.parametrize("text", ["12:30", "017", "0x1f", "0b11", "1_000"])
def test_a_number_that_is_not_written_as_one_is_refused_outside_quotes(text):
    Path("mine.yaml").write_text(f"title: x\ndatasets: {{t: {{file: t.csv, label: {text}}}}}\n")
    with pytest.raises(ConfigError, match=rf"^mine.yaml: line 2: found {text}, .*'{text}' in quotes$"):
        read_yaml(Path("mine.yaml"))
    Path("mine.yaml").write_text(in_one_line({"label": text}))
    assert read_yaml(Path("mine.yaml")) == {"label": text}
