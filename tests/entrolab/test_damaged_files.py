"""A damaged result is an error of one line, which names it and says what makes it again."""

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import Ridge

from entrolab.data.dataset import load_folds, save_folds
from entrolab.io.model_reading import trusted_types
from entrolab.io.parquet import read_frame, write_frame
from entrolab.io.records import read_json, write_json
from entrolab.text import Told

TABLE = pd.DataFrame({"fold": np.arange(50), "gmean": np.linspace(0, 1, 50)})
KINDS = {
    "npz": (lambda path: save_folds(path, np.arange(12).reshape(2, 6)), load_folds),
    "parquet": (lambda path: write_frame(path, TABLE), read_frame),
    "json": (lambda path: write_json(path, {"gmean": 0.5}), read_json),
    "skops": (
        lambda path: skops.io.dump(Ridge().fit(np.eye(3), [0, 1, 2]), path),
        lambda path: trusted_types(path, []),
    ),
}


@pytest.mark.fault("Disk", "a result cut or emptied by hand", "named: delete it and run again")
@pytest.mark.parametrize("kept", [0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_is_named(tmp_path, kind, kept):
    write, read = KINDS[kind]
    path = tmp_path / f"made.{kind}"
    write(path)
    read(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(Told) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "delete it and run" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.fault("Disk", "a bit flipped in a table of results", "read as it was, or named")
def test_whatever_bit_is_flipped_a_parquet_file_is_whole_or_named(tmp_path):
    """Its pages have checksums, its footer has none."""
    path = tmp_path / "scores.parquet"
    write_frame(path, TABLE)
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for bit in range(0, 8 * footer, 41):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            pd.testing.assert_frame_equal(read_frame(path), TABLE)
        except Told as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017  one or the other
