"""Going through a file takes the memory of some chunks, however large the file is."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

N_ROWS, N_FEATURES = 200_000, 100
MIB = N_ROWS * N_FEATURES * 4 / 2**20  # 76

# The peak would begin with what the libraries take, which therefore work on few rows before.
PROGRAM = """
import gc
import json
import os
import sys
import numpy as np
from entrolearn import streaming

def peak():
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 2**10

found = {}
for source in json.loads(sys.argv[1]):
    os.chdir("few")
    list(eval(source))
    os.chdir("../many")
    gc.collect()
    open("/proc/self/clear_refs", "w").write("5")  # the peak becomes what there is now
    chunks, before, total = eval(source), peak(), 0.0
    for X, _ in chunks:
        total += np.asarray(X, dtype=np.float32).sum(dtype=np.float64)
    found[source] = total, peak() - before
    del chunks, X, _
    os.chdir("..")
print(json.dumps(found))
"""

SOURCES = [
    "streaming.rows('X.npy', chunk_rows=5000)",
    "streaming.rows('columns.npy', chunk_rows=5000)",
    "streaming.rows(np.load('X.npy', mmap_mode='r'), chunk_rows=5000)",
    "streaming.rows(np.load('X.npy', mmap_mode='r')[1000:], chunk_rows=5000)",
    "streaming.rows(np.load('columns.npy', mmap_mode='r'), chunk_rows=5000)",
    "streaming.rows('X.parquet', chunk_rows=5000)",
]


@pytest.fixture(scope="module")
def passes(tmp_path_factory):
    """The sum of an array's numbers; that which a pass over each source finds, and the memory that it takes.

    All in one new process, first through files of few rows.
    """
    folder = tmp_path_factory.mktemp("rows")
    X = np.random.default_rng(0).standard_normal((N_ROWS, N_FEATURES), dtype=np.float32)
    write(folder / "few", X[:1001])
    write(folder / "many", X)
    command = [sys.executable, "-c", PROGRAM, json.dumps(SOURCES)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return X.sum(dtype=np.float64), json.loads(run.stdout)


def write(folder, X):
    folder.mkdir()
    np.save(folder / "X.npy", X)
    np.save(folder / "columns.npy", np.asfortranarray(X))
    table = pa.table({f"f{j}": column for j, column in enumerate(X.T)})
    # pyarrow decodes whole row groups.
    pq.write_table(table, folder / "X.parquet", row_group_size=5000)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of the process")
@pytest.mark.fault(
    "Memory", "a file several times as large as what may be taken", "gone through chunk by chunk"
)
@pytest.mark.parametrize("source", SOURCES)
def test_a_pass_takes_a_fraction_of_the_file(passes, source):
    total, found = passes
    of_source, grown = found[source]
    if "1000:" not in source:
        assert of_source == pytest.approx(total, rel=1e-9)
    assert grown < 2 * MIB / 3
