"""Whatever surrounds a run: a folder's name, other users, the locale, the environment, closed pipes, limits.

Either the tables are those of an undisturbed run to the last bit, or one line says what is in the way before
any job starts. All but a few run one study: one learner that draws a random layer, on one data set.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
TABLE = "results/tiny/tables/table1.csv"
TRACKED = "results/tiny/seed0/tracked/my-moons/eem.json"
PREPARED = "results/data/my-moons.npz"

# Not even root makes a folder under a file.
HOMELESS = {"HOME": "/dev/null", "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None}

# What paths may hold and shells, URIs, SQL and printf would take for something else.
ODD = "a b  'c' ü 数 # 50% & (d) [e] $HOME ; ~ ! * = , ^"

as_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="needs root and setpriv (of util-linux), to be other users",
)


@pytest.fixture(scope="module")
def new_little(new_project) -> Callable:
    """Make a project with a study of one run, and of letters that only UTF-8 has."""

    def make():
        project = new_project()
        study = yaml.safe_load((project.folder / "studies" / "tiny.yaml").read_text(encoding="utf-8"))
        catalog = yaml.safe_load((project.folder / "data.yaml").read_text(encoding="utf-8"))
        caption = "GMEAN – größer ist besser, 数"
        table = {**study["tables"]["table1"], "datasets": "moons", "models": ["eem"], "caption": caption}
        little = {
            **{key: value for key, value in study.items() if key != "figures"},
            "title": "Ein Lerner – “klein”",
            "models": {"eem": {**study["models"]["eem"], "label": "EEM²"}},
            "tables": {"table1": {**table, "criterion": "dcs_gaussian"}},
        }
        project.write(little, catalog)
        return project

    return make


@pytest.fixture(scope="module")
def plain(new_little):
    """The study, made with nothing odd around it."""
    project = new_little()
    result = project.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    return project


def assert_as_plain(result: subprocess.CompletedProcess, project, plain) -> None:
    assert result.returncode == 0, result.stdout[-5000:]
    assert project.tables() == plain.tables()


# ------------------------------------------------------------------------------------ others in the folder


@pytest.mark.fault(
    "Surroundings", "two workflows in one folder", "the second says so and exits 1, the first finishes"
)
def test_a_second_workflow_in_the_folder_says_so_and_harms_nothing(new_little, plain, record_property):
    project = new_little()
    running = project.start(TABLE)
    project.wait_until(lambda: (project.folder / PREPARED).exists(), running)
    finished = project.finished_files()

    second = project.run(TABLE)

    assert running.poll() is None
    assert second.returncode == 1
    assert f"{project.folder}: locked by another run; " in second.stdout.splitlines()[1]
    assert running.wait() == 0
    assert project.tables() == plain.tables()
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []


def as_user(number: int, group: int) -> list[str]:
    """A command before others, which then run as a user without an account who may read what root may."""
    return [
        *("setpriv", "--reuid", str(number), "--regid", str(group), "--clear-groups"),
        *("--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"),
    ]


def give_to(project, number: int, group: int) -> None:
    """Make a project a user's, and a group's to write to."""
    for path in (project.folder, *project.folder.rglob("*")):
        os.chown(path, number, group)
        path.chmod(0o2775 if path.is_dir() else 0o664)


@as_root
@pytest.mark.fault(
    "Surroundings", "results of another user, not to be written", "one line that names the folder, no job"
)
def test_a_folder_that_another_user_owns_is_named_in_one_line(new_little, record_property):
    project = new_little()
    assert project.run(PREPARED).returncode == 0
    finished = project.finished_files()

    result = project.run(TABLE, before=as_user(54321, 54321), environment=HOMELESS)

    assert result.returncode == 1
    assert f"{project.folder}: no permission to write" in result.stdout
    assert "Traceback" not in result.stdout
    assert not (project.folder / "results" / "tiny").exists()
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []


@as_root
@pytest.mark.fault(
    "Surroundings",
    "a folder shared by a group: one begins, another goes on, neither has a home",
    "tables equal",
)
def test_the_users_of_a_group_go_on_with_each_others_work(new_little, plain, record_property):
    project = new_little()
    give_to(project, 54321, 54300)
    shared = {"environment": HOMELESS, "umask": 0o002}
    first = project.run("results/tiny/seed0/folds/my-moons.npz", before=as_user(54321, 54300), **shared)
    assert first.returncode == 0, first.stdout[-5000:]
    finished = project.finished_files()
    assert finished

    second = project.run(TABLE, before=as_user(54322, 54300), **shared)

    assert_as_plain(second, project, plain)
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    assert {(project.folder / name).stat().st_uid for name in (PREPARED, TABLE)} == {54321, 54322}


# ------------------------------------------------------------------------------------------------- paths


@pytest.fixture(scope="module")
def odd(new_little):
    """The study, made and logged in a folder of odd letters by a user who has no home to write to."""
    project = new_little()
    project.folder = project.folder.rename(project.folder.with_name(ODD + '"'))
    project.result = project.run(TABLE, TRACKED, environment=HOMELESS)
    return project


@pytest.mark.fault("Surroundings", "no home that can be written, no XDG folders", "tables equal, runs logged")
@pytest.mark.fault(
    "Surroundings",
    "a project folder with spaces, quotes, other letters, # and %",
    "tables equal, runs in the store",
)
def test_the_letters_of_a_projects_path_do_not_matter(odd, plain):
    assert_as_plain(odd.result, odd, plain)
    tracked = json.loads((odd.folder / TRACKED).read_text(encoding="utf-8"))
    assert len(tracked["runs"]) == 1
    assert len(list((odd.folder / "mlruns").rglob("scores.csv"))) == 1
    assert not (odd.folder / "~").exists()


@pytest.mark.fault(
    "Surroundings",
    "a project folder whose path has 3000 letters",
    "tables equal; one line says that SQLite opens no store there",
)
def test_the_length_of_a_projects_path_does_not_matter(new_little, plain):
    project = new_little()
    deep = project.folder.parent.joinpath("deep", *["x" * 200] * 14)
    deep.mkdir(parents=True)
    project.folder = project.folder.rename(deep / "project")
    assert_as_plain(project.run(TABLE), project, plain)
    result = project.run(TRACKED)
    assert result.returncode == 1
    assert "tracking store sqlite:///mlflow.db: unable to open database file; correct this" in result.stdout
    assert "results are kept" in result.stdout


@pytest.fixture
def new_checkout(tmp_path) -> Callable[[str], Path]:
    """Copy what git knows of the checkout to a folder of some name, with an environment of its own."""

    def make(name: str) -> Path:
        listed = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False
        )
        if listed.returncode:
            pytest.skip("needs git, and a checkout")
        checkout = tmp_path / name
        for file in filter(None, listed.stdout.split("\0")):
            (checkout / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, checkout / file, follow_symlinks=False)
        venv = checkout / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        # The packages are those of the environment that the tests run in; the code is the checkout's.
        packages = Path(pytest.__file__).parents[1]
        own = next((venv / "lib").glob("python*")) / "site-packages"
        (own / "packages.pth").write_text(
            f"{checkout / 'src'}\n{packages}\n", encoding="utf-8", errors="surrogateescape"
        )
        return checkout

    return make


def run_in(checkout: Path, project, *arguments: str) -> subprocess.CompletedProcess:
    """Run a project's study by the Snakefile, code and environment of a checkout, in that folder."""
    studies = (
        f"extra_studies={project.folder / 'studies'}",
        f"extra_datasets={project.folder / 'data.yaml'}",
    )
    return subprocess.run(
        [
            *(checkout / ".venv" / "bin" / "python", "-m", "snakemake", "--cores", "2", *arguments),
            *("--config", *studies, "--", TABLE),
        ],
        cwd=checkout,
        env={name: value for name, value in project.environment.items() if name != "PYTHONPATH"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.mark.fault(
    "Surroundings", "a checkout, and its .venv, at such a path", "tables equal; make finds its tools"
)
def test_the_letters_of_a_checkouts_path_do_not_matter(new_checkout, plain):
    checkout = new_checkout(ODD)
    result = run_in(checkout, plain)
    assert result.returncode == 0, result.stdout[-5000:]
    made = {file.name: file.read_bytes() for file in (checkout / "results/tiny/tables").glob("*")}
    assert made == plain.tables()

    # What stands in for the script that an installer writes there.
    (checkout / ".venv/bin/snakemake").write_text('#!/bin/sh\necho "snakemake $*"\n')
    (checkout / ".venv/bin/snakemake").chmod(0o755)
    command = ["make", "--no-print-directory", "unlock"]  # as it would from a make that runs the tests
    unlock = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert (unlock.stdout, unlock.stderr) == ("snakemake --unlock\n", "")


# ------------------------------------------------------------------------------------- locales, zones, masks


@pytest.fixture(scope="module")
def german(tmp_path_factory) -> dict[str, str]:
    """The variables of a locale whose decimal point is a comma, made for these tests."""
    folder = tmp_path_factory.mktemp("locales")
    try:
        made = subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=False
        )
    except FileNotFoundError:
        pytest.skip("needs localedef, to make a locale")
    if made.returncode:
        pytest.skip("needs the sources of the locale de_DE, which Debian has in the package locales")
    return {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}


@pytest.fixture(scope="module")
def abroad(new_little, german):
    """The study, made in another locale and time zone by a user who lets nobody read."""
    says = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.format_string('%.1f', 0.5))"
    said = subprocess.run(
        [sys.executable, "-c", says], env=os.environ | german, capture_output=True, text=True, check=True
    )
    assert said.stdout == "0,5\n"
    project = new_little()
    project.begun = datetime.now(UTC)
    project.result = project.run(TABLE, environment={**german, "TZ": "XYZ-13:45"}, umask=0o077)
    return project


@pytest.mark.fault("Surroundings", "a locale with decimal commas", "tables equal")
def test_a_decimal_comma_changes_no_number(abroad, plain):
    assert_as_plain(abroad.result, abroad, plain)


@pytest.mark.fault("Surroundings", "another time zone", "tables equal, dates in UTC")
def test_dates_are_told_in_utc(abroad, plain):
    assert_as_plain(abroad.result, abroad, plain)
    record = json.loads(
        (abroad.folder / "results/tiny/seed0/records/my-moons/eem.json").read_text(encoding="utf-8")
    )
    started = datetime.fromisoformat(record["started"])
    assert started.utcoffset() == timedelta(0)
    assert abroad.begun - timedelta(seconds=1) <= started <= datetime.now(UTC)


@pytest.mark.fault("Surroundings", "a umask of 077", "tables equal, no file that others may read")
def test_a_umask_holds_for_every_result(abroad, plain):
    assert_as_plain(abroad.result, abroad, plain)
    modes = {path: path.stat().st_mode & 0o077 for path in (abroad.folder / "results").rglob("*")}
    assert modes
    assert not any(modes.values())


@pytest.mark.fault(
    "Surroundings", "the C locale, without UTF-8", "tables, runs and report with all their letters"
)
def test_a_locale_without_utf_8_loses_no_letter(new_little, plain):
    project = new_little()
    ascii = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": None}
    result = project.run(TRACKED, "results/report/tiny.html", environment=ascii)
    assert_as_plain(result, project, plain)
    page = (project.folder / "results/report/tiny.html").read_text(encoding="utf-8")
    assert "größer ist besser, 数" in page
    assert "EEM²" in page
    assert "“klein”" in page


# ------------------------------------------------------------------------------------------- environment


@pytest.mark.fault(
    "Surroundings",
    "snakemake by its full path, junk in PYTHONPATH and MPLBACKEND, TMPDIR absent, -OO",
    "tables equal",
)
def test_what_the_environment_says_does_not_matter(new_little, plain):
    project = new_little()
    junk = {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), "/nowhere", "/dev/null"])),
        "PYTHONOPTIMIZE": "2",
        "PYTHONHASHSEED": "12345",
        "TMPDIR": "/nowhere/at all",
        "MPLBACKEND": "module://of_a_notebook.that_is_not_here",
    }
    assert_as_plain(project.run(TABLE, environment=junk), project, plain)


STRAY = ("numpy", "yaml", "json", "logging", "entrolearn", "entrolab", "conftest", "sitecustomize")


@pytest.mark.fault(
    "Surroundings",
    "numpy.py, yaml.py and the like in the working folder and beside the study",
    "never read; tables equal",
)
def test_files_in_the_working_folder_shadow_no_module(new_little, plain):
    project = new_little()
    for folder in (project.folder, project.folder / "studies"):
        for name in STRAY:
            (folder / f"{name}.py").write_text(f"open({str(project.folder / 'was-read')!r}, 'w')\n")
    command = [str(Path(sys.executable).with_name("snakemake")), *project.command(TABLE)[3:]]
    result = subprocess.run(
        command,
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert_as_plain(result, project, plain)
    assert not (project.folder / "was-read").exists()


# --------------------------------------------------------------------------------------- streams and limits


@pytest.mark.fault(
    "Surroundings", "no standard input, output or error, 64 open files at most", "tables equal"
)
def test_no_stream_and_few_open_files_are_enough(new_little, plain):
    project = new_little()
    closed = ["sh", "-c", 'ulimit -n 64 && exec "$@" <&- >&- 2>&-', "sh"]
    assert_as_plain(project.run(TABLE, before=closed), project, plain)


@pytest.mark.fault("Surroundings", "`snakemake 2>&1 | head`", "it goes on and completes")
def test_a_run_whose_reader_has_gone_goes_on(new_little, plain):
    project = new_little()
    with subprocess.Popen(
        project.command(TABLE),
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as running:
        assert running.stdout.readline().startswith("Using workflow specific profile")
        running.stdout.close()
        assert running.wait() == 0
    assert project.tables() == plain.tables()


@as_root
@pytest.mark.fault(
    "Surroundings", "6 processes and threads at most", "it exits 1 at once, a plain rerun completes it"
)
def test_too_few_processes_end_a_run_that_is_completed_without_the_limit(new_little, plain):
    project = new_little()
    give_to(project, 54400, 54400)  # a user who has no other process
    few = [*as_user(54400, 54400), "prlimit", "--nproc=6"]
    assert project.run(TABLE, before=few, environment=HOMELESS).returncode == 1
    assert_as_plain(project.run(TABLE), project, plain)
