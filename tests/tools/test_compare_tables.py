"""The comparison of tables with those that were made before."""

import pytest
import yaml

from tools.compare_tables import COLUMNS, cells_of, differences, main, restrict, tables_of

ROWS = [
    ["heart", "svm", "gmean", "80", "2", "81.25", "3", "82", "reproduced", ""],
    ["heart", "knn", "gmean", "", "", "", "", "", "failed", "undefined"],
    ["sonar", "svm", "gmean", "70", "2", "71", "3", "72", "reproduced", "1 trial"],
    ["sonar", "svm", "fit_seconds", "", "", "0.5", "", "", "ours only", ""],
]


def write(file, rows=ROWS):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(",".join(row) for row in [COLUMNS, *rows]) + "\n")
    return file


def changed(row: int, column: str, value: str) -> list[list[str]]:
    rows = [list(one) for one in ROWS]
    rows[row][COLUMNS.index(column)] = value
    return rows


@pytest.mark.parametrize(
    ("row", "column", "value", "n_exact", "n_within"),
    [
        (0, "ours", "81.250001", 1, 0),
        (0, "ours", "81.36", 1, 1),
        (0, "ours", "", 1, 1),
        (1, "ours", "50", 1, 1),
        (0, "verdict", "higher", 1, 1),
        (1, "reason", "", 1, 1),
        (0, "dataset", "wine", 2, 2),  # one cell is gone, one is new
        (3, "ours", "0.7", 0, 0),  # seconds
    ],
)
def test_each_cell_that_differs_is_a_line(tmp_path, row, column, value, n_exact, n_within):
    before = write(tmp_path / "before.csv")
    after = write(tmp_path / "after.csv", changed(row, column, value))
    assert differences(before, before) == []
    assert len(differences(before, after)) == n_exact
    assert len(differences(before, after, within=0.1)) == n_within


def test_only_the_named_data_sets_are_compared(tmp_path):
    before, after = write(tmp_path / "before.csv"), write(tmp_path / "after.csv", changed(0, "ours", "1"))
    assert differences(before, after, ["sonar"]) == []
    assert cells_of(before, ["sonar"]).index.tolist() == [("sonar", "svm", "gmean")]


def test_the_command_compares_what_is_made(tmp_path, monkeypatch, capsys):
    write(tmp_path / "golden" / "one" / "table1.csv")
    write(tmp_path / "golden" / "two" / "table1.csv")
    write(tmp_path / "results" / "one" / "tables" / "table1.csv")
    (tmp_path / "results" / "one" / "claims.csv").write_text("id,claim\n")
    write(tmp_path / "results" / "two" / "tables" / "table1.csv", changed(2, "ours", "70"))
    command = ["compare_tables", str(tmp_path / "golden"), "--results", str(tmp_path / "results")]
    assert list(tables_of(tmp_path / "results")) == [("one", "table1"), ("two", "table1")]
    monkeypatch.setattr("sys.argv", command)
    assert main() == 1
    assert "two table1: sonar svm gmean: ours '71', now '70'\n6 cells compared, 1 " in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [*command, "--studies", "one"])
    assert main() == 0


def test_a_restricted_study_has_the_tables_of_the_named_data_sets(tmp_path):
    study = {
        "datasets": {"few": ["heart"], "all": ["heart", "sonar"]},
        "tables": {name: {"datasets": group} for name, group in (("a", "few"), ("b", "all"), ("c", "all"))},
        "published": "values.csv",
        "claims": "claims.yaml",
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    (tmp_path / "values.csv").write_text("table,dataset\na,heart\nb,heart\nb,sonar\nc,sonar\n")
    assert restrict(tmp_path / "study.yaml", ["a", "b"], ["sonar"]) == ["b"]
    left = yaml.safe_load((tmp_path / "study.yaml").read_text())
    assert list(left["tables"]) == ["b"]
    assert left["datasets"][left["tables"]["b"]["datasets"]] == ["sonar"]
    assert (tmp_path / "values.csv").read_text() == "table,dataset\nb,sonar\n"
