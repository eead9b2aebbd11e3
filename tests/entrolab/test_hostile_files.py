"""Files that want to harm: a reader keeps to its limits, runs no code, writes nothing, and names the file."""

import gzip
import hashlib
import io
import json
import os
import pickle
import pkgutil
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import rdata
import scipy.io
import yaml

from entrolab.data import formats
from entrolab.data.dataset import DataError, load_dataset, load_folds
from entrolab.data.prepare import READER_GIB, limits_of_reading, prepare
from entrolab.io.limits import GIB, LimitError, Limits, within
from entrolab.schema.sections import ConfigError
from entrolab.study.config import load_catalog

FORMATS = sorted(found.name for found in pkgutil.iter_modules(formats.__path__))

MIB = 2**20
ROWS = np.array([[1.0, 2], [3, 4], [5, 6], [7, 9]])
LABELS = np.array([1, 0, 1, 0])
SPARSE = {"name": "svmlight", "n_features": 2, "sparse_features": True}
MAT = {"name": "mat", "features": "fea", "label": "gnd"}
TABLE = {
    "name": "table",
    "names": ["a", "b", "c"],
    "read": {},
    "label": "c",
    "columns": {"a": None, "b": None},
}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:rdata")


def options_of(format: str) -> dict:
    """A format as the catalog has it."""
    return {"mat": MAT, "table": TABLE}.get(format, {"name": format})


@pytest.fixture
def read(tmp_path):
    """Prepare a data set of some files (name to bytes), which nothing is known of but the counts."""

    def run(files, format, *, limits=None, rows=4, features=2):
        folder = tmp_path / "raw"
        folder.mkdir(exist_ok=True)
        entry = {
            "source": "files",
            "files": [{"path": f"made/{name}"} for name in files],
            "format": {"name": format} if isinstance(format, str) else format,
            "task": "binary",
            "positive": [1],
            "expect": {"rows": rows, "features": features},
        }
        receipt = {"available": True, "reason": "", "files": []}
        for name, content in files.items():
            (folder / name).write_bytes(content)
            receipt["files"].append({"path": f"made/{name}", "sha256": hashlib.sha256(content).hexdigest()})
        (folder / "receipt.json").write_text(json.dumps(receipt))
        (found,) = within(
            limits_of_reading(rows * features, limits or Limits(60, 4)), prepared, entry, folder
        )
        if isinstance(found, DataError):
            raise found
        return found

    return run


def prepared(entry, folder):
    """The data set, or the error that says what is wrong with it, for :func:`within`."""
    try:
        yield prepare("made", entry, folder)
    except DataError as error:
        yield error


def refused(read, files, *arguments, **options) -> str:
    """The one line that says what is wrong with some files, by their names."""
    with pytest.raises(DataError) as caught:
        read(files, *arguments, **options)
    message = str(caught.value)
    assert message.startswith("made: ")
    assert message.isprintable()
    assert len(message) < 1000
    return message


def packed(**arrays) -> bytes:
    """The bytes of an npz archive."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def matlab(*elements: bytes) -> bytes:
    """The bytes of a MATLAB file of version 5."""
    return b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\0\1IM" + b"".join(elements)


def element(kind: int, content: bytes, size: int | None = None) -> bytes:
    """A part of a MATLAB file, which may claim another size than it has."""
    return struct.pack("<II", kind, len(content) if size is None else size) + content


def matrix(name: bytes, rows: int) -> bytes:
    """How a matrix of numbers begins that claims so many rows."""
    flags, shape = element(6, struct.pack("<II", 6, 0)), element(5, struct.pack("<II", rows, 1))
    head = flags + shape + element(1, name.ljust(8, b"\0"), len(name)) + element(9, b"", 8 * rows)
    return element(14, head, len(head) + 8 * rows)


def idx(shape, content: bytes) -> bytes:
    """The bytes of a gzipped IDX file that claims a shape."""
    return gzip.compress(b"\0\0\x08" + bytes([len(shape)]) + np.array(shape, ">i4").tobytes() + content)


# ----------------------------------------------------------------------------------------------- what expands

BOMB = 1280  # MiB, more than the GiB that these readers are given


def deflated(*parts: bytes) -> bytes:
    """Parts that a stream of zlib's repeats, each compressed once."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"\x78\x9c" + b"".join(stream.compress(part) + stream.flush(zlib.Z_FULL_FLUSH) for part in parts)


def claiming(shape: tuple[int, ...], mebibytes: int = 0) -> bytes:
    """The bytes of an npz archive whose array claims a shape, and has so many zeros."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("data.npy", "w") as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(member, header)
            for _ in range(mebibytes):
                member.write(bytes(MIB))
        archive.writestr("label.npy", b"")
    return buffer.getvalue()


def mat_bomb() -> bytes:
    zeros = deflated(bytes(MIB))[2:]
    return matlab(element(15, deflated(matrix(b"fea", BOMB * MIB // 8)) + BOMB * zeros))


BOMBS = {
    "idx of gz": ("idx", lambda: {"a.gz": BOMB * gzip.compress(bytes(MIB)), "b.gz": b""}),
    "svmlight of gz": ("svmlight", lambda: {"a.gz": BOMB * gzip.compress(b"1 1:1" + b" " * MIB)}),
    "csv of gz": ("csv", lambda: {"a.csv.gz": BOMB * gzip.compress(b"1,1" + b" " * MIB)}),
    "rdata of gz": ("rdata", lambda: {"a.rda": BOMB * gzip.compress(bytes(MIB))}),
    "npz": ("npz", lambda: {"a.npz": claiming((BOMB * MIB // 16, 2), BOMB)}),
    "mat": (MAT, lambda: {"a.mat": mat_bomb()}),
}


@pytest.mark.slow
@pytest.mark.fault(
    "Network", "a decompression bomb: gz, bz2, xz, npz, mat", "one line with the limit that it hit"
)
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_file_that_expands_without_end_stops_at_its_limit(read, bomb):
    format, files = BOMBS[bomb]
    files = files()
    assert sum(map(len, files.values())) < 8 * MIB
    message = refused(read, files, format, limits=Limits(seconds=3600, gib=1))
    assert f"cannot read {', '.join(files)} as " in message
    assert "memory limit" in message


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_what_the_process_holds_is_not_counted_as_memory_of_reading(read):
    held = np.empty(3 * 2**27)  # 3 GiB, more than reading a small file may take
    lines, limits = b"1,2,1\n3,4,0\n" * 50_000, Limits(seconds=3600, gib=16)
    dataset = read({"a.csv": lines}, "csv", limits=limits, rows=100_000)
    assert held.nbytes > (READER_GIB + 0.5) * GIB
    np.testing.assert_array_equal(dataset.X.sum(axis=0), [200_000, 300_000])


@pytest.mark.fault("Network", "a few bytes that claim terabytes", "one line")
@pytest.mark.parametrize(
    ("format", "files"),
    [
        ("svmlight", {"a": b"1 1:1 1000000000000:1\n"}),
        (SPARSE, {"a": b"1 1:1 1000000000000:1\n"}),
        ("svmlight", {"a": b"1 99999999999999999999999:1\n"}),
        ("idx", {"a.gz": idx([2**31 - 1, 2**31 - 1], b""), "b.gz": idx([4], b"")}),
        (MAT, {"a.mat": matlab(matrix(b"fea", 2**28))}),
        (MAT, {"a.mat": matlab(element(15, b"", 2**32 - 1))}),
        ("npz", {"a.npz": claiming((2**40, 2))}),
    ],
    ids=["feature", "sparse feature", "feature beyond integers", "idx", "mat", "compressed mat", "npz"],
)
def test_a_size_that_is_only_claimed_is_refused(read, format, files):
    assert "cannot read a" in refused(read, files, format)


@pytest.mark.fault("Network", "a file that keeps its reader busy", "stopped at its time limit")
def test_a_reader_has_a_time_limit(read):
    lines = b"1,2,1\n" * 10**6
    with pytest.raises(LimitError, match=r"time limit of 0.001 s"):
        read({"a.csv": lines}, "csv", limits=Limits(seconds=0.001, gib=4))


# -------------------------------------------------------------------------------------- what runs, or escapes


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, canary: Path):
        self.canary = canary

    def __reduce__(self):
        return os.mkdir, (str(self.canary),)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.fault("Trust", "a pickled object in an npz archive", "refused; it did not run")
@pytest.mark.parametrize("name", ["data", "label"])
def test_objects_in_an_npz_archive_are_not_unpickled(read, tmp_path, name):
    objects = np.array([Payload(tmp_path / "ran")] * 4, dtype=object)
    archive = packed(**{"data": ROWS, "label": LABELS, name: objects})
    assert "Object arrays cannot be loaded" in refused(read, {"a.npz": archive}, "npz")
    assert files_below(tmp_path) == {"raw", "raw/a.npz", "raw/receipt.json"}


@pytest.mark.fault("Trust", "a pickle under the name of a data file", "refused; it did not run")
@pytest.mark.parametrize("format", FORMATS)
def test_no_reader_unpickles(read, tmp_path, format):
    content = pickle.dumps(Payload(tmp_path / "ran"))
    refused(read, {"a.pkl": content}, options_of(format))
    assert files_below(tmp_path) == {"raw", "raw/a.pkl", "raw/receipt.json"}


@pytest.mark.fault("Trust", "a program in the header of an array", "refused; it did not run")
def test_the_header_of_an_array_is_no_program(read, tmp_path):
    header = f"{{'descr': __import__('os').mkdir({str(tmp_path / 'ran')!r})}}\n".encode()
    member = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.npy", member)
    refused(read, {"a.npz": buffer.getvalue()}, "npz")
    assert files_below(tmp_path) == {"raw", "raw/a.npz", "raw/receipt.json"}


@pytest.mark.fault(
    "Network", "an archive with ../ and absolute members", "its arrays read, nothing extracted"
)
def test_members_of_an_archive_are_never_extracted(read, tmp_path):
    buffer = io.BytesIO(packed(data=ROWS, label=LABELS))
    outside = [f"../{tmp_path.name}-escaped.npy", str(tmp_path / "absolute.npy"), "../../escaped"]
    with zipfile.ZipFile(buffer, "a") as archive:
        for member in outside:
            archive.writestr(member, b"harm")
    np.testing.assert_array_equal(read({"a.npz": buffer.getvalue()}, "npz").X, ROWS)
    assert files_below(tmp_path) == {"raw", "raw/a.npz", "raw/receipt.json"}
    assert not any((tmp_path / "raw" / member).exists() for member in outside)


@pytest.mark.fault("Trust", "a pickle in the place of a prepared data set", "refused; it did not run")
@pytest.mark.parametrize("packed_up", [False, True], ids=["bare", "in an archive"])
def test_results_are_not_unpickled_either(tmp_path, packed_up):
    file, payload = tmp_path / "made.npz", Payload(tmp_path / "ran")
    harm = packed(y=np.array([payload], dtype=object)) if packed_up else pickle.dumps(payload)
    file.write_bytes(harm)
    for load in (load_dataset, load_folds):
        with pytest.raises(DataError, match=r"made\.npz: truncated or corrupt \(.*; delete it and run"):
            load(file)
    assert files_below(tmp_path) == {"made.npz"}


@pytest.mark.fault("Network", "a result that claims terabytes", "one line that names the file")
def test_a_result_that_claims_terabytes_is_named(tmp_path):
    (tmp_path / "made.npz").write_bytes(claiming((2**60, 2)))
    with pytest.raises(DataError, match=r"made\.npz: truncated or corrupt \(.*; delete it and run"):
        load_folds(tmp_path / "made.npz")


@pytest.mark.fault("Trust", "control characters in a data file", "not passed on to the terminal")
def test_what_a_message_quotes_is_printable(read):
    content = "1,2,1\n3,\x1b[2J\x1b]0;owned\x07\u202e,0\n".encode()
    refused(read, {"a.csv": content}, "csv")
    labels = b"1,2,\x1b[2J\n3,4,0\n"
    message = refused(read, {"a.csv": labels}, "csv", rows=2)
    assert message.endswith("no row has the positive label '1'; found: \ufffd[2J, 0")


@pytest.mark.fault("Trust", "control characters in a study or catalog", "not passed on to the terminal")
def test_what_a_mistake_quotes_is_printable_and_short(tmp_path):
    file = tmp_path / "a\x1b[2J.yaml"
    file.write_text(yaml.safe_dump(dict.fromkeys(["\x1b[31mred\x07", "a\nb", *map(str, range(120))], 1)))
    with pytest.raises(ConfigError) as caught:
        load_catalog([file])
    lines = str(caught.value).split("\n")
    assert lines[1].endswith(".yaml: red\ufffd: found 1, expected a mapping, `key: value`")
    assert all(line.isprintable() for line in lines)
    assert len(lines) == 11


# ------------------------------------------------------------------------------------------- what is nonsense

NONSENSE = {
    "nothing": b"",
    "noise": np.random.default_rng(0).bytes(1000),
    "utf-16": "1,2,1\n3,4,0\n".encode("utf-16"),
    "a page": b"<!doctype html><html><p>1,2</p></html>",
    "an open quote": b'1,2,"1\n3,4,0\n',
}


@pytest.mark.fault("Network", "nonsense in the place of data, of each format", "one line that names the file")
@pytest.mark.parametrize("content", NONSENSE)
@pytest.mark.parametrize("format", FORMATS)
def test_nonsense_is_refused(read, format, content):
    message = refused(read, {"a.data": NONSENSE[content]}, options_of(format))
    assert "a.data" in message or "instead of" in message


@pytest.mark.fault("Network", "data that are not what they claim", "one line that names the file")
@pytest.mark.parametrize(
    ("format", "files", "said"),
    [
        ("svmlight", {"a": b"1 -3:1\n"}, "Invalid index -3"),
        ("svmlight", {"a": b"1 2:1 2:1\n"}, "should be sorted and unique"),
        ("svmlight", {"a": b"1 1:1e999\n0 1:1\n"}, "found infinite values"),
        (SPARSE, {"a": b"1 1:nan\n0 1:1\n"}, "1 rows with missing values"),
        ("csv", {"a": b"1,inf,1\n2,-inf,0\n"}, "found infinite values"),
        ("csv", {"a": b"1,2,1\n3,4,0,5\n"}, "Expected 3 fields"),
        ("arff", {"a": b"@relation r\n@attribute a relational\n@data\n"}, "cannot read a as arff"),
        ("arff", {"a": b"@relation r\n@attribute c {x}\n@data\ny\n"}, "y value not in ('x',)"),
        ("idx", {"a.gz": idx([-1, 2], bytes(8)), "b.gz": idx([4], bytes(4))}, "cannot reshape"),
        ("idx", {"a.gz": idx([3, 2], bytes(8)), "b.gz": idx([4], bytes(4))}, "cannot reshape"),
        ("idx", {"a.gz": idx([2**16] * 4, b""), "b.gz": idx([4], bytes(4))}, "cannot read a.gz"),
        ("idx", {"a.gz": idx([1] * 255, bytes(1)), "b.gz": idx([4], bytes(4))}, "cannot read a.gz"),
        ("idx", {"a.gz": idx([4, 2], bytes(8)), "b.gz": idx([3], bytes(3))}, "of features but 3 labels"),
        ("idx", {"a.gz": idx([4, 2], bytes(8))}, "cannot read a.gz"),
        ("idx", {"a.gz": gzip.compress(b"\0\0\x0d\1" + bytes(8)), "b.gz": b""}, "not an IDX file of bytes"),
        ("npz", {"a": packed(data=ROWS, label=LABELS[:3])}, "4 rows of features but 3 labels"),
        ("npz", {"a": packed(data=ROWS[0], label=LABELS)}, "cannot read a as npz"),
        (MAT, {"a": matlab(matrix(b"gnd", 0))}, "KeyError"),
        (MAT, {"a": b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\0\2IM"}, "cannot read a as mat"),
    ],
)  # fmt: skip
def test_what_is_not_as_it_claims_is_refused(read, format, files, said):
    assert said in refused(read, files, format)


def valid(format: str, folder: Path) -> dict[str, bytes]:
    """Files of a format that hold the same four rows."""
    lines = [(*row, label) for row, label in zip(ROWS.astype(int), LABELS, strict=True)]
    text = "".join(f"{a},{b},{label}\n" for a, b, label in lines).encode()
    match format:
        case "csv":
            return {"a": text}
        case "table":
            return {"a": b"a,b,c\n" + text}
        case "arff":
            head = b"@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {0,1}\n@data\n"
            return {"a": head + text}
        case "svmlight":
            return {"a": "".join(f"{label} 1:{a} 2:{b}\n" for a, b, label in lines).encode()}
        case "npz":
            return {"a": packed(data=ROWS, label=LABELS)}
        case "mat":
            scipy.io.savemat(folder / "a", {"fea": ROWS, "gnd": LABELS}, do_compression=True, appendmat=False)
        case "rdata":
            rdata.write_rda(folder / "a", {"x": np.column_stack([LABELS, ROWS])})
        case "idx":
            images = ROWS.astype(np.uint8).tobytes()
            return {"a": idx([4, 2], images), "b": idx([4], LABELS.astype(np.uint8).tobytes())}
    return {"a": (folder / "a").read_bytes()}


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, cut out or put in."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(len(content)))
        match rng.integers(3):
            case 0:
                content[place] ^= 1 << int(rng.integers(8))
            case 1:
                del content[place : place + int(rng.integers(1, 20))]
            case 2:
                content[place:place] = rng.bytes(int(rng.integers(1, 20)))
        content = content or bytearray(1)
    return bytes(content)


@pytest.mark.slow
@pytest.mark.fault("Network", "bytes changed at random, twenty times in each format", "read, or one line")
@pytest.mark.parametrize("format", FORMATS)
def test_damage_is_survived_wherever_it_is(read, tmp_path, format):
    files = valid(format, tmp_path)
    options = options_of(format)
    np.testing.assert_array_equal(read(files, options).X, ROWS)
    before = files_below(tmp_path)
    rng = np.random.default_rng(1)
    told = []
    for _ in range(20):
        files["a"] = damaged(valid(format, tmp_path)["a"], rng)
        try:
            assert read(files, options).X.shape == ROWS.shape
        except DataError as error:
            told.append(str(error))
    assert told
    assert all(line.startswith("made: ") and line.isprintable() for line in told)
    assert files_below(tmp_path) == before


@pytest.mark.fault("Network", "a file of the right size with other bytes", "named, not read")
def test_a_file_of_the_right_size_with_other_bytes_is_not_read(read, tmp_path):
    content = b"1,2,1\n3,4,0\n5,6,1\n7,9,0\n"
    read({"a.csv": content}, "csv")
    entry = {
        "source": "files",
        "files": [{"path": "made/a.csv", "sha256": hashlib.sha256(content).hexdigest()}],
        "format": {"name": "csv"},
        "task": "binary",
        "positive": [1],
        "expect": {"rows": 4, "features": 2},
    }  # fmt: skip
    assert prepare("made", entry, tmp_path / "raw").n_samples == 4
    (tmp_path / "raw/a.csv").write_bytes(content.replace(b"9", b"8"))
    with pytest.raises(DataError, match=r"made: .*a\.csv is not the file in the catalog; delete .*receipt"):
        prepare("made", entry, tmp_path / "raw")


@pytest.mark.fault(
    "Network", "a wrong file that nobody has a checksum of", "one line that says what to delete"
)
def test_a_wrong_file_without_a_checksum_is_not_kept_for_ever(read):
    for content in (b"<p>busy</p>", b"1,2,1\n3,4,0\n"):
        message = refused(read, {"a.csv": content}, "csv")
        assert message.endswith("is published: if the file is wrong, delete it and receipt.json")


# -------------------------------------------------------------------------------------- what the catalog says

FILE = {"path": "made/a.csv", "url": "https://example.org/a.csv", "sha256": "0" * 64, "bytes": 9}
ENTRY = {
    "title": "Made",
    "source": "files",
    "files": [FILE],
    "format": {"name": "csv"},
    "task": "binary",
    "positive": [1],
    "expect": {"rows": 4, "features": 2},
    "reference": "made",
}
ODD_PATHS = [
    "../a.csv", "made/../../a.csv", "/etc/passwd", "~/a.csv", "made//a.csv", "./a.csv", "made/a.csv\n",
    "made/a b", "made/é", "made/$(id)", "-rf", ".hidden", "C:\\a", "made/\0", "", "made/" + "a" * 300,
]  # fmt: skip


def loaded(folder: Path, **changes):
    file = folder / "data.yaml"
    file.write_text(yaml.safe_dump({"made": {**ENTRY, **changes}}))
    return load_catalog([file])


@pytest.mark.fault(
    "Network", "paths that lead elsewhere, odd names of files", "refused before any job, in one line"
)
@pytest.mark.parametrize("path", ODD_PATHS)
def test_a_path_that_leads_elsewhere_is_refused(tmp_path, path):
    assert loaded(tmp_path)
    with pytest.raises(ConfigError, match=r"made\.files\.0\.path: found ") as caught:
        loaded(tmp_path, files=[{**FILE, "path": path}])
    assert str(caught.value).isprintable()


@pytest.mark.fault(
    "Network", "train/x.csv and test/x.csv of one data set, which would be one file", "refused before any job"
)
@pytest.mark.parametrize("other", ["other/a.csv", "other/A.csv"])
def test_files_of_one_name_are_refused(tmp_path, other):
    assert loaded(tmp_path, files=[FILE, {**FILE, "path": "made/b.csv"}])
    with pytest.raises(
        ConfigError, match=rf"made\.files: found made/a\.csv and {other}, which have the same file name"
    ):
        loaded(tmp_path, files=[FILE, {**FILE, "path": other}])


@pytest.mark.fault("Network", "images of the format idx without their labels", "refused before any job")
def test_idx_files_are_pairs(tmp_path):
    files = [{**FILE, "path": f"made/{name}"} for name in "abc"]
    assert loaded(tmp_path, files=files[:2], format={"name": "idx"})
    with pytest.raises(ConfigError, match="found 3 idx files; accepted: pairs of images and their labels"):
        loaded(tmp_path, files=files, format={"name": "idx"})


@pytest.mark.fault("Network", "an address or a checksum that ends in a line break", "refused in one line")
@pytest.mark.parametrize("part", ["url", "sha256"])
def test_no_text_ends_in_a_line_break(tmp_path, part):
    with pytest.raises(ConfigError, match=rf"files\.0\.{part}: found "):
        loaded(tmp_path, files=[{**FILE, part: FILE[part] + "\n"}])


@pytest.mark.fault("Network", "addresses of other protocols, or with a password", "refused before any job")
@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a/b", "http://", "https://me:secret@example.org/a", "http://a b/"]
)
def test_an_address_that_is_not_for_the_web_is_refused(tmp_path, url):
    with pytest.raises(ConfigError, match=r"files\.0\.url: found .*, expected an http or https address"):
        loaded(tmp_path, files=[{**FILE, "url": url}])
