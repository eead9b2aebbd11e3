"""Wrong files and wrong commands, by the real workflow: one line, exit status 1, and nothing is made."""

import pytest
import yaml

from entrolab.data.dataset import load_dataset

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

OUTCOME = "one line with its place and what is accepted; exit status 1 before any job"


def spoilt(content: dict, place: str, value) -> None:
    *parents, last = place.split(".")
    for parent in parents:
        content = content[parent]
    content[last] = value


def refused(project, line: str, *arguments: str, **config) -> None:
    """Run the study, which has to be refused in a line that begins so."""
    result = project.run(*arguments or ("tiny",), **config)
    assert result.returncode == 1, result.stdout[-3000:]
    assert [one for one in result.stdout.splitlines() if one.startswith(line)], result.stdout[-3000:]
    assert "Traceback" not in result.stdout
    assert not (project.folder / "results").exists()
    assert not (project.folder / "logs").exists()


@pytest.mark.fault("Configuration", "a wrong study in a real run", OUTCOME)
def test_a_wrong_study_is_refused(new_project, small):
    small["metrics"] = ["gmeen"]
    refused(new_project(small), "studies/tiny.yaml: metrics.0: found 'gmeen'")


@pytest.mark.fault("Configuration", "mistakes in learners, in real runs", "a line for each, before any job")
def test_a_wrong_learner_ends_a_run_before_any_job_even_if_it_is_to_go_on(new_project, small):
    spoilt(small, "models.lda.params", {"solvr": "svd", "n_components": 0})
    project = new_project(small)
    result = project.run("tiny", "--keep-going")
    assert result.returncode == 1
    for place in ("models.lda.params.solvr", "models.lda.params.n_components"):
        [_] = [one for one in result.stdout.splitlines() if one.startswith(f"studies/tiny.yaml: {place}: ")]
    assert "Traceback" not in result.stdout
    assert not (project.folder / "results").exists()
    assert [file.name for file in (project.folder / "logs").rglob("*.log")] == ["check.log"]


@pytest.mark.fault("Configuration", "a wrong command", OUTCOME)
@pytest.mark.parametrize(
    ("arguments", "config", "line"),
    [
        ([], {"seed": "abc"}, "config: seed: found 'abc', expected a whole number"),
        ([], {"extra_datasets": "elsewhere.yaml"}, "elsewhere.yaml: No such file or directory"),
    ],
)
def test_a_wrong_command_is_refused(new_project, small, arguments, config, line):
    refused(new_project(small), line, *arguments, **config)


@pytest.mark.fault(
    "Configuration", "data of one's own that are wrong", "one line; mended, a rerun takes them"
)
def test_wrong_data_are_one_line_and_are_taken_when_they_are_mended(
    new_project, small, tmp_path, entry_of_table
):
    content = "".join(f"{k % 7},{k % 5},{'yes' if k % 2 else 'no'},x\n" for k in range(60)).encode()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "table.csv").write_bytes(content)
    labels = {"format": {"name": "csv", "label": 2}, "positive": ["yes"]}
    entry = entry_of_table(content, "http://127.0.0.1:9/table.csv", **labels)
    catalog = yaml.safe_load((new_project(small).folder / "data.yaml").read_text())
    project = new_project(small, {**catalog, "my-table": entry})
    prepared = "results/data/my-table.npz"

    result = project.run(prepared, mirror=tmp_path)
    assert result.returncode == 1
    said = "prepare my-table: my-table: cannot read table.csv as csv: ValueError: column x4: Unable to parse"
    assert [one for one in result.stdout.splitlines() if one.startswith(said)], result.stdout[-3000:]
    assert not (project.folder / prepared).exists()

    entry["format"]["drop"] = [3]
    project.write(small, {**catalog, "my-table": entry})
    assert project.run(prepared, mirror=tmp_path).returncode == 0
    assert load_dataset(project.folder / prepared).X.shape == (60, 2)
