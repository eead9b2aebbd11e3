"""Deposits of finished studies, from a hand-made folder of results; archives that were changed or crafted."""

import hashlib
import json
import stat
import zipfile

import pytest
import yaml

from tools.deposit import CRATE, MANIFEST, MOST_PARSED, DepositError, check, main, make

CITATION = {"title": "software", "version": "1.2", "authors": [{"name": "Its authors"}]}
STUDY = {"title": "A study", "published": "../published/one.csv", "tables": {"table1": {}}}
PNG = b"\x89PNG\r\n\x1a\n"
PACKED = {
    "CITATION.cff": yaml.safe_dump(CITATION).encode(),
    "config/papers/one.yaml": yaml.safe_dump(STUDY).encode(),
    "config/published/one.csv": b"table,value\n",
    "results/one/claims.csv": b"claim\n",
    "results/one/figures/f.png": PNG,
    "results/one/seed0/models/wine/lda.json": b"{}",
    "results/one/seed0/predictions/wine/lda.parquet": b"PAR1PAR1",
    "results/one/tables/table1.csv": b"ours\n0.5\n",
}
LEFT_OUT = {
    "config/papers/unfinished.yaml": yaml.safe_dump({**STUDY, "tables": {"other": {}}}).encode(),
    "results/data/wine.npz": b"rows",
    "results/one/figures/f.svg": b"<svg><script/></svg>",
    "results/one/seed0/models/wine/lda.skops": b"model",
    "results/one/scaled/wine.npz": b"rows",
    "results/one/tables/.table1-1234.csv": b"half a file",
    "results/one/tables/table1.html": b"<script></script>",
    "results/one/tracked.json": b"{}",
}
RECORD = "results/one/seed0/models/wine/lda.json"


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, content in (PACKED | LEFT_OUT).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(root):
    """The contents of a deposit, without its manifest."""
    assert make(root / "deposit.zip", root) == ["one"]
    with zipfile.ZipFile(root / "deposit.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != MANIFEST}


def packed(path, files, *, crate=True, mode=stat.S_IFREG, manifest=None):
    """An archive of these files, with a manifest, and with a crate if it is not among them."""
    files = dict(files)
    if crate:
        parts = [{"@id": name} for name in files if name != CRATE]
        files[CRATE] = json.dumps({"@graph": [{"@id": "./", "hasPart": parts}]}).encode()
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**files, MANIFEST: "".join(lines) if manifest is None else manifest}.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def refused(path, capsys) -> str:
    """The line that refuses an archive: one, and printable."""
    assert main(["check", str(path)]) == 2
    line = capsys.readouterr().err.removesuffix("\n")
    assert line.isprintable()
    assert len(line) < 1000
    assert line.startswith(str(path))
    return line


def test_a_deposit_has_the_results_and_their_configuration_and_says_what_it_is(files):
    assert {name: content for name, content in files.items() if name != CRATE} == PACKED
    entities = {one["@id"]: one for one in json.loads(files[CRATE])["@graph"]}
    described = entities["./"]
    assert described["name"] == "software 1.2: results of one"
    assert described["license"] == {"@id": "https://spdx.org/licenses/BSD-3-Clause"}
    assert {part["@id"] for part in described["hasPart"]} == PACKED.keys() <= entities.keys()
    assert entities[CRATE]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert entities["results/one/tables/table1.csv"]["@type"] == "File"


def test_packed_twice_the_bytes_are_the_same(root, files):
    make(root / "again.zip", root, "one")
    assert (root / "again.zip").read_bytes() == (root / "deposit.zip").read_bytes()
    assert check(root / "again.zip") == len(PACKED) + 2


def test_the_command_makes_and_checks(root, capsys):
    assert main(["make", "deposit.zip"]) == main(["check", "deposit.zip"]) == 0
    assert "one\n" in capsys.readouterr().out


@pytest.mark.parametrize("asked", [["unfinished"], ["one", "unknown"]])
def test_without_all_its_tables_a_study_is_not_packed(root, asked, capsys):
    assert main(["make", "deposit.zip", *asked]) == 2
    assert asked[-1] in capsys.readouterr().err
    assert not (root / "deposit.zip").exists()


def test_without_finished_studies_there_is_nothing_to_pack(tmp_path):
    with pytest.raises(DepositError, match="every study: "):
        make(tmp_path / "deposit.zip", tmp_path)


@pytest.mark.fault(
    "Trust", "a name in a deposit that leaves its folder or is executed by a terminal", "refused"
)
@pytest.mark.parametrize(
    "name",
    [
        *("../out.csv", "/out.csv", "a/../../out.csv", "a\\out.csv", "C:/out.csv", "./out.csv", "a//out.csv"),
        *(
            "\x1b[31mred\x07.csv",
            "a\nb.csv",
            "a\u202eb.csv",
            ".hidden.csv",
            "-rf.csv",
            "~",
            "é.csv",
            "folder/",
            "CITATION.cff/a.csv",
        ),
        *("d/" * 2000 + "x.csv", "x" * 300 + ".csv"),
    ],
)
def test_names_that_are_not_plain_relative_paths_are_refused(files, tmp_path, capsys, name):
    assert "accepted: relative paths" in refused(packed(tmp_path / "bad.zip", {**files, name: b"x"}), capsys)


@pytest.mark.fault("Trust", "a script or a program in a deposit", "refused")
@pytest.mark.parametrize("name", ["a.svg", "a.html", "a.py", "a.npz", "a.skops", "a.zip", "results"])
def test_files_of_other_types_are_refused(files, tmp_path, capsys, name):
    assert name in refused(packed(tmp_path / "bad.zip", {**files, name: b"x"}), capsys)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_links_and_devices_are_refused(files, tmp_path, capsys, kind):
    assert "accepted: regular files" in refused(
        packed(tmp_path / "bad.zip", files, mode=kind | 0o777), capsys
    )


@pytest.mark.fault("Trust", "a file of a deposit that is much larger unpacked", "refused before it is read")
@pytest.mark.parametrize("name", [CRATE, MANIFEST, RECORD])
def test_large_files_are_refused_before_they_are_read(files, tmp_path, capsys, monkeypatch, name):
    zeros = b"0" * (MOST_PARSED + 1)
    manifest = zeros if name == MANIFEST else None
    contents = files if name == MANIFEST else {**files, name: zeros}
    path = packed(tmp_path / "bad.zip", contents, crate=False, manifest=manifest)
    monkeypatch.setattr(zipfile.ZipFile, "open", None)  # nothing is read
    assert f"{name}: {MOST_PARSED + 1} bytes" in refused(path, capsys)


def test_names_that_are_there_twice_are_refused(files, tmp_path, capsys):
    twice = {**files, "results/one/Claims.csv": b"claim\n"}  # one file where case does not count
    assert "a name twice" in refused(packed(tmp_path / "bad.zip", twice), capsys)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (RECORD, b"[]"),
        (RECORD, b""),
        (RECORD, b"[" * 100_000),
        (RECORD, b'{"a": "\xff"}'),
        ("results/one/seed0/predictions/wine/lda.parquet", b"PAR1garbage"),
        ("results/one/figures/f.png", b"<svg></svg>"),
        ("results/one/tables/table1.csv", b"\xff\xfe"),
    ],
)
def test_contents_of_other_types_are_refused(files, tmp_path, capsys, name, content):
    refused(packed(tmp_path / "bad.zip", {**files, name: content}), capsys)


@pytest.mark.parametrize(
    "crate",
    [
        *(
            "",
            "[]",
            "null",
            "NaN",
            "{",
            '{"@graph": 5}',
            '{"@graph": "abc"}',
            '{"@graph": [5]}',
            "[" * 100_000,
        ),
        *('{"@graph": [{"@id": ["./"]}]}', '{"@graph": [{"@id": "\x1b[31mX"}]}', '{"@graph": []}'),
        *(
            '{"@graph": [{"@id": "./", "hasPart": ' + parts
            for parts in ("5}]}", '"a"}]}', '[{"@id": []}]}]}')
        ),
    ],
)
def test_metadata_of_other_shapes_is_refused(files, tmp_path, capsys, crate):
    files = {**files, CRATE: crate.encode()}
    refused(packed(tmp_path / "bad.zip", files, crate=False), capsys)


def test_files_that_the_manifest_or_the_metadata_does_not_have_are_refused(files, tmp_path, capsys):
    more = {**files, "more.txt": b"1"}
    assert "parts" in refused(packed(tmp_path / "bad.zip", more, crate=False), capsys)
    assert "archive only" in refused(packed(tmp_path / "bad.zip", files, manifest="0  more.txt\n"), capsys)
    refused(packed(tmp_path / "bad.zip", files, manifest=b"\xff"), capsys)


def test_damage_is_one_line(root, files, capsys):
    content = (root / "deposit.zip").read_bytes()
    n_refused = 0
    for place in range(0, len(content), len(content) // 60):
        (root / "bad.zip").write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        if main(["check", "bad.zip"]):  # the date of a file in the archive, for instance, is not checked
            line = capsys.readouterr().err.removesuffix("\n")
            assert line.isprintable()
            n_refused += 1
    assert n_refused > 40
    for end in (0, 1, 21, 100, len(content) - 1):
        (root / "bad.zip").write_bytes(content[:end])
        refused(root / "bad.zip", capsys)


def test_a_folder_is_no_deposit(tmp_path, capsys):
    refused(tmp_path, capsys)
