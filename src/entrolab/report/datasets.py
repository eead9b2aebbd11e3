"""The content of a data set's page: facts, sources, and its rows in each study's tables."""

from collections.abc import Mapping, Sequence

from entrolab.text import one_line

LONGEST = 2000
COUNTS = {
    "rows": "rows",
    "test_rows": "of them test rows",
    "features": "features",
    "negative": "negative",
    "positive": "positive",
    "classes": "classes",
}


def dataset_page(key: str, entry: Mapping, shown: Sequence[Mapping]) -> dict:
    """The content of the page of a data set.

    `entry` is the catalog's; `shown` contains the key, title and tables of each study, see
    :func:`entrolab.report.shown_tables.laid_out`.
    """
    used = [
        {"key": study["key"], "title": study["title"], "tables": tables}
        for study in shown
        if (tables := [of for table in study["tables"] if (of := _of_dataset(table, key))["rows"]])
    ]
    return {
        **dataset_line(key, entry, used),
        "counts": [
            (said, f"{entry['expect'][name]:,}") for name, said in COUNTS.items() if name in entry["expect"]
        ],
        "source": one_line(entry["source"]),
        "generator": ", ".join(f"{name} {value}" for name, value in (entry.get("generator") or {}).items()),
        "loader": entry.get("loader", ""),
        "files": [
            {name: file.get(name) for name in ("path", "url", "sha256", "bytes")}
            for file in entry.get("files", [])
        ],
        "reference": one_line(entry.get("reference", "")),
        "licence": one_line(entry.get("licence", "")),
        "note": one_line(entry.get("note", ""), limit=LONGEST),
        "used": used,
    }


def dataset_line(key: str, entry: Mapping, used: Sequence[Mapping]) -> dict:
    """The line of a data set in a list of them."""
    expect = entry["expect"]
    rarer = None  # share of the rarer of two classes, in percent
    if "positive" in expect:
        rarer = 100 * min(expect["positive"], expect["negative"]) / expect["rows"]
    return {
        "key": key,
        "title": one_line(entry["title"]),
        "task": entry["task"],
        "rows": expect["rows"],
        "features": expect["features"],
        "classes": expect.get("classes", 2 if "positive" in expect else None),
        "rarer": rarer,
        "studies": [study["key"] for study in used],
    }


def _of_dataset(table: Mapping, key: str) -> dict:
    """A table with only the rows of one data set, without its name, and their footnotes."""
    rows = [row for row in table["rows"] if row["at"].get("dataset") == key]
    own = [{**row, "heads": [{**head, "span": 1} for head in row["heads"][1:]]} for row in rows]
    letters = {letter for row in own for cell in row["cells"] for letter in cell.letters.split(",")}
    notes = [note for note in table["footnotes"] if note["letter"] in letters]
    return {**table, "heads": table["heads"][1:], "rows": own, "footnotes": notes, "root": "../"}
