"""A study with published values: deposits, packed, rebuilt and compared; and tables with further seeds."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import yaml

from entrolab.deposit.__main__ import main
from entrolab.deposit.crate import CRATE, DATACITE, MANIFEST, DepositError, crate_mistakes, manifest, validate
from entrolab.deposit.packing import STUDIES, pack
from entrolab.deposit.rebuilding import _differences, compare, differences_in_words, rebuild
from entrolab.seeds.values import read_seeds
from entrolab.study.config import load_catalog, load_study

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]
STUDY = {
    "title": "Two learners, to be deposited",
    "protocol": {"folds": 3},
    "metrics": ["accuracy"],
    "datasets": {"both": ["sklearn-wine-0", "my-moons"]},
    "models": {
        "lda": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "nb": "sklearn.naive_bayes.GaussianNB",
    },
    "tables": {
        "table1": {"type": "scores", "caption": "Accuracy", "datasets": "both"},
        "table2": {"type": "times", "caption": "Seconds", "datasets": "both"},
        "table3": {"type": "characteristics", "caption": "Counts", "datasets": "both"},
    },
    "claims": "claims.txt",
    "published": "tiny.csv",
    "seeds": "../seeds.csv",
}
CLAIM = {"id": "learns", "place": "section 1", "claim": "It learns."}
TEST = {"type": "bound", "tables": ["table1"], "metric": "accuracy", "at_least": 60}
PUBLISHED = """table,dataset,model,metric,value,std
table1,my-moons,lda,accuracy,85,40
table1,my-moons,nb,accuracy,5,1
"""


@pytest.fixture(scope="module")
def project(new_project):
    project = new_project(STUDY)
    studies = project.folder / "studies"
    (studies / "claims.txt").write_text(yaml.safe_dump({"claims": [CLAIM | {"tests": [TEST]}]}))
    (studies / "tiny.csv").write_text(PUBLISHED)
    said = with_seeds(project, 1)
    assert [line.split(":")[0] for line in said] == ["tiny table1, seed 0"]
    tables = [f"results/tiny/tables/{table}.csv" for table in STUDY["tables"]]
    result = project.run(*tables, "results/tiny/claims.csv")
    assert result.returncode == 0, result.stdout[-5000:]
    return project


def with_seeds(project, n_seeds: int) -> list[str]:
    """Make table1 with some seeds, as `make seeds` does; the lines on the seeds that were made."""
    command = [sys.executable, "-m", "entrolab.seeds", "make", "tiny", "--tables", "table1", "--cores", "2"]
    settings = ["--config", "extra_studies=studies", "extra_datasets=data.yaml"]
    result = subprocess.run(
        [*command, "--seeds", str(n_seeds), *settings],
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:]
    return [line for line in result.stdout.splitlines() if line.startswith("tiny ")]


@pytest.fixture(scope="module")
def packed(project, tmp_path_factory):
    """Pack the project's study, as it is or with its results elsewhere; each name once."""
    folder = tmp_path_factory.mktemp("deposits")

    @cache
    def make(name: str = "deposit.zip", results: Path | None = None) -> Path:
        catalogs = [ROOT / "config/datasets.yaml", project.folder / "data.yaml"]
        study = load_study(project.folder / "studies/tiny.yaml", load_catalog(catalogs))
        where = {"catalogs": catalogs, "home": ROOT, "results": results or project.folder}
        assert pack(folder / name, {"tiny": study}, **where) == ["tiny"]
        return folder / name

    return make


def changed(deposit: Path, target: Path, **files) -> Path:
    """A copy of a deposit with some files replaced or added, or removed (None)."""
    with zipfile.ZipFile(deposit) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            content = files.get(entry.filename, source.read(entry))
            if content is not None:
                copy.writestr(entry.filename, content)
        for name in files.keys() - set(source.namelist()):
            copy.writestr(name, files[name])
    return target


def test_a_deposit_is_valid_and_says_what_it_is(packed):
    deposit = packed()
    validate(deposit)
    with zipfile.ZipFile(deposit) as archive:
        names = set(archive.namelist())
        root = next(one for one in json.loads(archive.read(CRATE))["@graph"] if one["@id"] == "./")
        doi = json.loads(archive.read(DATACITE))
    assert {"CITATION.cff", "requirements.lock", "config/papers/tiny.yaml", "config/papers/tiny.csv"} <= names
    assert "config/seeds.csv" in names
    assert "results/tiny/predictions/my-moons/lda.parquet" in names
    assert not any(name.endswith((".npz", ".skops")) for name in names)
    assert {"@id": "results/tiny/tables/table1.csv"} in root["hasPart"]
    assert len(root["citation"]) == 5
    assert doi["types"]["resourceTypeGeneral"] == "Dataset"
    assert "10.1007/s10044-015-0497-8" in {one["relatedIdentifier"] for one in doi["relatedIdentifiers"]}


def test_packed_twice_the_bytes_are_the_same(packed):
    assert packed().read_bytes() == packed("again.zip").read_bytes()
    assert len(compare(packed(), packed("again.zip"))) == 0


def test_tables_claims_and_report_are_rebuilt_from_the_deposit_alone(packed, tmp_path, capsys):
    command = ["rebuild", str(packed()), str(tmp_path / "elsewhere")]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "2 tables made again" in said
    assert "data sets are missing: tiny/table3\nno cell differs\nreport: " in said
    page = (tmp_path / "elsewhere/results/report/tiny.html").read_text()
    assert "It learns." in page
    assert (tmp_path / "elsewhere/results/tiny/tables/table3.tex").exists()
    assert main(command) == 2
    assert "this folder is not empty" in capsys.readouterr().err


def test_a_planted_wrong_number_is_told_by_the_rebuilt_table(packed, project, tmp_path):
    """A number of a deposited table that its predictions do not give; and the claims that rest on it."""
    wrong = tmp_path / "wrong"
    shutil.copytree(project.folder / "results", wrong / "results")
    file = wrong / "results/tiny/tables/table1.csv"
    table = pd.read_csv(file, keep_default_na=False)
    right = float(table.loc[0, "ours"])
    table.loc[0, "ours"] = 99.5
    table.to_csv(file, index=False)
    claims = wrong / "results/tiny/claims.csv"
    claims.write_text(claims.read_text().replace("holds", "fails"))
    rebuilt = rebuild(packed("wrong.zip", wrong), tmp_path / "elsewhere")
    assert rebuilt.differences[["table", "first", "second"]].values.tolist() == [
        ["table1", 99.5, pytest.approx(right)]
    ]
    assert rebuilt.claims == ["tiny/learns: fails, now holds"]
    found = compare(packed(), packed("wrong.zip", wrong))
    assert len(found) == 1
    assert found["difference"][0] == pytest.approx(99.5 - right)


def test_equal_infinite_numbers_do_not_differ():
    cell = {"dataset": "a", "model": "b", "metric": "kl", "verdict": "", "ours": float("inf")}
    table, other = pd.DataFrame([cell]), pd.DataFrame([cell | {"ours": -float("inf")}])
    assert _differences("tiny", "table1", table, table).empty
    assert len(_differences("tiny", "table1", table, other)) == 1


def test_a_cell_of_one_deposit_only_is_told_first(packed, project, tmp_path):
    less = tmp_path / "less"
    shutil.copytree(project.folder / "results", less / "results")
    file = less / "results/tiny/tables/table1.csv"
    table = pd.read_csv(file, keep_default_na=False)
    table.loc[0, "ours"] *= 2
    table[:-1].to_csv(file, index=False)
    found = compare(packed(), packed("less.zip", less))
    missing, _ = differences_in_words(found)[1:]
    assert re.search(r": [\d.]+, now no number; .+, now missing$", missing)
    assert found["second"][1] == pytest.approx(table["ours"][0])
    back = differences_in_words(compare(packed("less.zip", less), packed()))
    assert "no number, now" in back[1]
    assert "missing, now" in back[1]


def test_damage_inside_a_deposit_is_one_line(packed, tmp_path):
    content = packed().read_bytes()
    file = tmp_path / "damaged.zip"
    said = []
    for place in range(99, len(content), len(content) // 60):
        file.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        try:
            validate(file)  # as it may be: a file's date in the zip does not matter
        except DepositError as error:
            said.append(str(error))
    assert len(said) > 50
    assert all("damaged.zip: " in one for one in said)


def test_the_command_checks_and_compares(packed):
    deposit = str(packed())
    assert main(["check", deposit]) == 0
    assert main(["compare", deposit, deposit]) == 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"CITATION.cff": None}, "there is no CITATION.cff"),
        ({"results/tiny/tables/table1.csv": b"1"}, f"table1.csv: its sha256 differs from that in {MANIFEST}"),
        ({"results/tiny/tables/table1.csv": None}, f"table1.csv: in {MANIFEST}, but not in the deposit"),
        ({"more.txt": b"1"}, f"more.txt: not in {MANIFEST}"),
        ({"../more.txt": b"1"}, "found the path '../more.txt'; accepted: paths inside the deposit"),
        ({CRATE: b"{"}, f"{CRATE}: Expecting"),
        ({CRATE: b"[]"}, "@context: accepted: https://w3id.org/ro/crate/1.1/context"),
    ],
)
def test_a_deposit_that_was_changed_is_refused(packed, tmp_path, files, said):
    with pytest.raises(DepositError) as error:
        validate(changed(packed(), tmp_path / "changed.zip", **files))
    assert said in str(error.value)


def crafted(deposit: Path, target: Path, files: dict[str, bytes | None]) -> Path:
    """A copy of a deposit with other files, or without, and a manifest that agrees with it."""
    with zipfile.ZipFile(deposit) as archive:
        lines = archive.read(MANIFEST).decode().splitlines()
    digests = {name: digest for digest, name in (line.split("  ") for line in lines)}
    for name, content in files.items():
        digests[name] = "" if content is None else hashlib.sha256(content).hexdigest()
    listed = manifest({name: digest for name, digest in digests.items() if digest})
    return changed(deposit, target, **files, **{MANIFEST: listed.encode()})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *(
            (f'{{"studies": {{"{name}": "tiny.yaml"}}}}', f"found the study '{name}'")
            for name in ("../../out", "/out", ".")
        ),
        ("", "Expecting value"),
        ("[]", "found []; accepted: 'studies', a mapping of names to files"),
        ('{"studies": ["tiny"]}', "'studies', a mapping of names to files"),
        ('{"studies": {}}', "'studies', a mapping of names to files"),
        ('{"studies": {"tiny": 3}}', "tiny: found 3; accepted: a file of config/papers"),
        ('{"studies": {"tiny": "../datasets.yaml"}}', "accepted: a file of config/papers"),
        ('{"studies": {"tiny": "tiny.yaml"}, "commit": {}}', "commit: found {}; accepted: text"),
    ],
)
def test_a_crafted_list_of_studies_is_refused_in_one_line(packed, tmp_path, capsys, content, said):
    deposit = crafted(packed(), tmp_path / "crafted.zip", {STUDIES: content.encode()})
    assert main(["rebuild", str(deposit), str(tmp_path / "elsewhere")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "elsewhere").exists()


def test_without_its_list_of_studies_a_deposit_is_refused(packed, tmp_path):
    with zipfile.ZipFile(packed()) as archive:
        metadata = json.loads(archive.read(CRATE))
    metadata["@graph"] = [one for one in metadata["@graph"] if one["@id"] != STUDIES]
    of_root(metadata)["hasPart"].remove({"@id": STUDIES})
    files = {STUDIES: None, CRATE: json.dumps(metadata).encode()}
    with pytest.raises(DepositError, match=f"{STUDIES}: this file is missing"):
        rebuild(crafted(packed(), tmp_path / "without.zip", files), tmp_path / "elsewhere")


def test_a_file_that_is_not_a_zip_is_refused(tmp_path):
    (tmp_path / "none.zip").write_text("none")
    with pytest.raises(DepositError, match="accepted: a zip file of `make deposit`"):
        validate(tmp_path / "none.zip")


def of_root(metadata: dict) -> dict:
    return next(one for one in metadata["@graph"] if one["@id"] == "./")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda metadata: of_root(metadata).pop("license"), "./: the key 'license' is missing"),
        (lambda metadata: of_root(metadata).update(datePublished="soon"), "found 'soon'; accepted: a date"),
        (lambda metadata: of_root(metadata).update(licence="MIT"), "./: unknown term 'licence'"),
        (
            lambda metadata: of_root(metadata).update(author={"@id": "#nobody"}),
            "./: refers to '#nobody', which is not described",
        ),
        (lambda metadata: metadata["@graph"].append(metadata["@graph"][0]), "an @id is repeated"),
        (lambda metadata: metadata["@graph"].pop(), "in the deposit, but not described as a part of ./"),
        (
            lambda metadata: metadata["@graph"][0].pop("conformsTo"),
            "conform to https://w3id.org/ro/crate/1.1",
        ),
    ],
)
def test_metadata_that_the_specification_forbids_is_told(packed, change, said):
    with zipfile.ZipFile(packed()) as archive:
        metadata, names = json.loads(archive.read(CRATE)), archive.namelist()
    assert list(crate_mistakes(metadata, names)) == []
    change(metadata)
    assert any(said in line for line in crate_mistakes(metadata, names))


def test_without_finished_studies_there_is_nothing_to_deposit(project, tmp_path):
    with pytest.raises(DepositError, match="no study has all its tables; run"):
        pack(tmp_path / "none.zip", {}, catalogs=[], home=ROOT, results=tmp_path)


# ------------------------------------------------------------------------------------------- further seeds


def test_only_missing_seeds_are_made_and_the_page_shows_the_verdicts_over_seeds(project):
    file = project.folder / "seeds.csv"
    first = read_seeds(file)
    shown = pd.read_csv(project.folder / "results/tiny/tables/table1.csv").dropna(subset="published")
    assert first["0"].tolist() == pytest.approx(shown["ours"].tolist(), rel=1e-5)

    said = with_seeds(project, 2)
    assert [line.split(":")[0] for line in said] == ["tiny table1, seed 1"]
    whole = read_seeds(file)
    assert (whole["0"] != whole["1"]).any()
    pd.testing.assert_frame_equal(whole.drop(columns="1"), first)
    assert not (project.folder / "results/seeds/tiny/1/results/tiny/tracked").exists()

    assert project.run("results/tiny/tables/table1.html").returncode == 0
    page = (project.folder / "results/tiny/tables/table1.html").read_text()
    assert "over 2 seeds" in page
    assert "of 2 numbers with 2 seeds" in page
    assert "Verdicts over seeds" in page
