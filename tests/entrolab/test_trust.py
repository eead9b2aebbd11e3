"""What the project asks its users to trust, and no more: what it installs, reads and shows."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from entrolab.schema.sections import ConfigError, check
from entrolab.study.config import load_catalog, load_study
from entrolab.study.settings import Settings

ROOT = Path(__file__).parents[2]

# ------------------------------------------------------------------------------------------ what is installed


def requirements(file: str) -> list[str]:
    """The requirements of a file, each with its hashes in one line."""
    text = re.sub(r"\\\n", " ", (ROOT / file).read_text())
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.fault(
    "Trust", "a package that is not the one that was tested", "pip and uv refuse it by its hash"
)
@pytest.mark.parametrize("file", ["requirements.lock", "tools/uv.txt", "tools/build.txt"])
def test_every_package_is_pinned_by_its_version_and_hashes(file):
    found = requirements(file)
    assert found
    # Nor does a line name an index, an address, or anything else than a package.
    pinned = re.compile(r"[a-z0-9._-]+==[^ ;]+( ; [^-]+?)?( +--hash=sha256:[0-9a-f]{64})+ *")
    assert [line for line in found if not pinned.fullmatch(line)] == []


def test_the_lock_holds_what_the_project_asks_for():
    learners, lab = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in ("", "src/entrolab")
    )
    every = (*learners["dependencies"], *learners["optional-dependencies"]["dev"], *lab["dependencies"])
    asked = {re.match(r"[\w-]+", one)[0].lower() for one in every} - {"entrolearn"}
    assert asked <= {line.partition("==")[0] for line in requirements("requirements.lock")}


def test_each_installation_of_packages_demands_their_hashes():
    script = (ROOT / "tools" / "environment.sh").read_text()
    installations = [line for line in script.splitlines() if "pip install" in line]
    assert len(installations) == 7
    for line in installations:
        # The project itself comes from its folder, and brings nothing along.
        if "--no-deps --no-build-isolation -e . -e src/entrolab" not in line:
            assert "--require-hashes -r " in line
            assert "--only-binary :all:" in line or "$wheels" in line


@pytest.mark.fault("Trust", "a package without a wheel", "one, built by what is pinned by its hashes")
def test_one_package_is_built_and_by_what_is_pinned():
    script = (ROOT / "tools" / "environment.sh").read_text()
    [wheels] = re.findall('^wheels="(.*)"$', script, flags=re.M)
    assert wheels == "--only-binary :all: --no-binary connection-pool --no-build-isolation"
    assert [line.partition("==")[0] for line in requirements("tools/build.txt")] == ["setuptools"]
    # Wherever the lock is installed, what builds was installed before.
    installed = re.findall(r"pip install .*--require-hashes -r ([\w./]+)", script)
    assert [file for file in installed if file != "tools/uv.txt"] == [
        "tools/build.txt",
        "requirements.lock",
    ] * 2


# ----------------------------------------------------------------------------------------------- what is read

TAG = "!!python/object/apply:os.mkdir"


@pytest.mark.fault("Trust", "a Python object in a study or a catalog", "refused in one line; it did not run")
@pytest.mark.parametrize(
    "tag", [TAG, "!!python/name:os.system", "!!python/module:os", "!!python/object/new:set"]
)
@pytest.mark.parametrize(
    "read", [lambda file: load_study(file, {}), lambda file: load_catalog([file])], ids=["study", "catalog"]
)
def test_yaml_makes_no_objects(tmp_path, read, tag):
    file = tmp_path / "mine.yaml"
    file.write_text(f"title: {tag} {'' if 'name' in tag else [str(tmp_path / 'ran')]}\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml: line 1: could not determine a constructor") as caught:
        read(file)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.slow
@pytest.mark.workflow
@pytest.mark.fault("Trust", "a Python object in the settings", "refused before any job; it did not run")
def test_settings_make_no_objects(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text(f"seed: {TAG} [{tmp_path / 'ran'}]\n")
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "-s",
        ROOT / "Snakefile",
        "--configfile",
        file,
        "--cores",
        "1",
    ]
    result = subprocess.run(
        [*command, "-n"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 1
    assert "not valid JSON or YAML" in result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.fault("Trust", "a study whose address is a program", "refused before any job")
@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,<script>", "file:///a", "https://a/![](//b)", "http://a\n"]
)
def test_the_address_of_a_study_is_one_for_the_web(tmp_path, url):
    study = yaml.safe_load((ROOT / "config" / "papers" / "demo.yaml").read_text())
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**study, "url": url}))
    with pytest.raises(ConfigError, match=r"mine\.yaml: url: found .*, expected an http or https address"):
        load_study(tmp_path / "mine.yaml", {})


def settings(store: str | None) -> Settings:
    return check(Settings, {"papers": "demo", "seed": 0, "store": store}, "config")


@pytest.mark.fault("Trust", "a password or a token in the setting of the store", "refused, and not repeated")
@pytest.mark.parametrize(
    "address",
    [
        "https://me:secret@example.org",
        "http://secret@example.org",
        "https://example.org/?token=secret",
        "https://example.org#secret",
        "postgresql://example.org/runs?password=secret",
        "postgresql://alice:pa@rt:secret@example.org/runs",
        "postgresql://alice:pa/secret@example.org/runs",
    ],
)
def test_a_password_is_not_kept_among_the_notes_of_the_workflow(address):
    with pytest.raises(ConfigError, match="set others in MLFLOW_TRACKING_URI") as caught:
        settings(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["https://example.org:5000/runs", "sqlite:////home/a@b/c#d/runs.db", "sqlite:///mlflow.db", "databricks"],
)
def test_an_address_without_a_secret_is_a_setting(address):
    assert settings(address).store == address
