"""Rows from Zarr stores: an array, or named arrays of a group."""

import os
from pathlib import Path

from entrolearn.streaming.arrays import ArrayRows
from entrolearn.streaming.columns import listed
from entrolearn.streaming.extras import stream_extra
from entrolearn.suggest import did_you_mean

__all__ = ["group_rows", "is_zarr", "opened"]

# Files in the folder of a Zarr array or group, of version 3 and version 2.
MARKS = ("zarr.json", ".zgroup", ".zarray")


def is_zarr(path: str | os.PathLike) -> bool:
    """Whether a path is a Zarr store, by its suffix or by the files in its folder."""
    return str(path).rstrip("/").endswith(".zarr") or any((Path(path) / mark).exists() for mark in MARKS)


def opened(path: str | os.PathLike):
    """The array or group of a Zarr store in a folder.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    ValueError
        If the folder is not a Zarr store.
    ImportError
        If zarr is not installed.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no Zarr store {path}.")
    with stream_extra("reading Zarr", "zarr"):
        import zarr
    try:
        return zarr.open(path, mode="r")
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} is not a Zarr store: {str(error).splitlines()[0]}") from error


def group_rows(group, target, features, chunk_rows: int | None, where: str) -> ArrayRows:
    """Rows of one array of a group, with targets from another array.

    Parameters
    ----------
    group : zarr.Group
    target : str or None
    features : str or None
        Default: the only two-dimensional array besides the target.
    chunk_rows : int or None
    where : str
        Name of the group in error messages.

    Raises
    ------
    ValueError
        If an array does not exist, or the array of the features is not unique.
    """
    names = [name for name in group if hasattr(group[name], "shape")]
    if features is None:
        tables = [name for name in names if len(group[name].shape) == 2 and name != target]
        if len(tables) != 1:
            raise ValueError(
                f"{where} has {len(tables)} arrays of two dimensions; name one with features=. It has "
                f"{listed(names)}."
            )
        (features,) = tables
    X = _array(group, features, "features", names, where)
    return ArrayRows(X, None if target is None else _array(group, target, "target", names, where), chunk_rows)


def _array(group, name, what: str, names: list[str], where: str):
    if not isinstance(name, str) or name not in names:
        raise ValueError(
            f"{what}={name!r} is not an array of {where}{did_you_mean(name, names)}; it has {listed(names)}."
        )
    return group[name]
