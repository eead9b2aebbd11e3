"""`guess_options`: pandas reads a file, with the options guessed for it, as its owner means it."""

import numpy as np
import pandas as pd
import pytest

from entrolab.data.guessing import guess_options


def lines(names, *rows, times=1):
    """A file of some rows, repeated."""
    return "\n".join([names, *rows * times]) + "\n"


# Name -> text, encoding, options expected, and the kinds of columns that pandas then reads: f, i, M (dates)
# or O (text). The options are those that the kind of the export is known to need.
FILES = {
    "German bank": (
        lines(
            "Konto;0012345\nZeitraum;Mai\n\nBuchungstag;Empfänger;Betrag;Saldo",
            "31.05.2025;Müller;-1.234,56;10.000,00",
            "02.06.2025;Café;12,00;8.765,44",
        ),
        "cp1252",
        {
            "sep": ";",
            "encoding": "cp1252",
            "skiprows": 3,
            "decimal": ",",
            "thousands": ".",
            "parse_dates": ["Buchungstag"],
            "date_format": {"Buchungstag": "%d.%m.%Y"},
        },
        "MOff",
    ),
    "American export": (
        lines(
            "Date,Units,Price,Cost,Share",
            '12/31/2025,"1,200",1.5,"$3,400.50",45%',
            '01/02/2025,900,0.25,"$12.00",7%',
        ),
        "utf-8",
        {"thousands": ",", "parse_dates": ["Date"], "date_format": {"Date": "%m/%d/%Y"}},
        "MifOO",  # money and percents are no option of pandas
    ),
    "Excel, Unicode text": (
        lines("Größe\tname of it\tn", "1,5\ta b\t3", "2,25\tc d\t4"),
        "utf-16",
        {"sep": "\t", "encoding": "utf-16", "decimal": ","},
        "fOi",
    ),
    "laboratory": (
        lines("sample temp ph", "a1 20.5 7.1", "a2 -999 6.9", "a3 19.0 -999", times=2),
        "utf-8",
        {"sep": r"\s+", "na_values": ["-999"]},
        "Off",
    ),
    "dates in many ways": (
        lines(
            "iso,compact,named,american,clock,both",
            '2025-03-31,20250331,"Mar 31, 2025",3/31/25 2:05 PM,14:05,01/02/2025',
            '2024-12-01,20241201,"Dec 1, 2024",12/1/24 9:30 AM,09:30,03/03/2025',
        ),
        "utf-8",
        {
            "parse_dates": ["named", "american", "compact"],
            "date_format": {"named": "%b %d, %Y", "american": "%m/%d/%y %I:%M %p", "compact": "%Y%m%d"},
        },
        "OMMMOO",
    ),
    "tabs, and blanks in names": (
        lines("first name\tlast name\tage", "Anna Maria\tvan Dyk\t31", "Bo\tLi\t40"),
        "utf-8",
        {"sep": "\t"},
        "OOi",
    ),
    "sep= of Excel": (
        lines("sep=;\nname;x", '"a;b";1,5', '"c,d";-0,25'),
        "utf-8-sig",
        {"sep": ";", "skiprows": 1, "decimal": ","},
        "Of",
    ),
    "French export": (
        lines("jour;montant;note", "31/12/2025 08:15;1 234,50;12", "01/01/2026 19:40;12,00;?"),
        "utf-8",
        {
            "sep": ";",
            "decimal": ",",
            "thousands": " ",
            "na_values": ["?"],
            "parse_dates": ["jour"],
            "date_format": {"jour": "%d/%m/%Y %H:%M"},
        },
        "Mff",
    ),
    "survey": (
        lines("income|job|since", "1200|NULL|2020", "n/a|cook|Unknown", "-|smith|2019"),
        "utf-8",
        {"sep": "|", "na_values": ["-", "Unknown"]},
        "fOf",
    ),
    "Swiss prices": (
        lines("price,currency", "1'234.50,CHF", "12.00,EUR", "0.5,CHF"),
        "utf-8",
        {"thousands": "'"},
        "fO",
    ),
    "plain": (lines("x,y,when", "1,0.5,10:30", "2,1.234,11:00"), "utf-8", {}, "ifO"),
}


VALUES = {
    "German bank": ("Betrag", [-1234.56, 12.0]),
    "American export": ("Units", [1200, 900]),
    "laboratory": ("temp", [20.5, np.nan, 19.0] * 2),
    "French export": ("montant", [1234.5, 12.0]),
    "dates in many ways": (
        "american",
        [pd.Timestamp(2025, 3, 31, 14, 5), pd.Timestamp(2024, 12, 1, 9, 30)],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_pandas_reads_a_file_as_its_owner_means_it(tmp_path, name):
    text, encoding, expected, kinds = FILES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    options = guess_options(path)
    assert options == expected
    frame = pd.read_csv(path, index_col=False, low_memory=False, **options)
    assert "".join(dtype.kind for dtype in frame.dtypes) == kinds
    assert len(frame) == len(text.strip().splitlines()) - 1 - expected.get("skiprows", 0)
    if name in VALUES:
        column, values = VALUES[name]
        found, written = frame[column], pd.Series(values, name=column)
        pd.testing.assert_series_equal(found, written, check_dtype=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Both 1 February and 2 January fit.
        (lines("day,x", "01/02/2025,1", "03/04/2025,2"), {}),
        # One value settles it.
        (
            lines("day,x", "01/02/2025,1", "13/04/2025,2"),
            {"parse_dates": ["day"], "date_format": {"day": "%d/%m/%Y"}},
        ),
        # 1,234 is 1234 or 1.234; with a comma between the columns it is in quotes, and 1234.
        (lines("x;y", "1,234;a", "5,678;b"), {"sep": ";"}),
        (lines("x,y", '"1,234",a', '"5,678",b'), {"thousands": ","}),
        # Another column settles it.
        (lines("x;y;z", "1,234;a;0,5", "5,678;b;0,25"), {"sep": ";", "decimal": ","}),
        (lines("x;y;z", "1,234;a;0.5", "5,678;b;0.25"), {"sep": ";", "thousands": ","}),
        # Three digits behind a point are no thousands, unless another column writes them so.
        (lines("x;y", "1.234;1.5", "5.678;2.5"), {"sep": ";"}),
        (lines("x;y", "1.234;1.234,5", "5.678;2,5"), {"sep": ";", "decimal": ",", "thousands": "."}),
        # One -999 may be a value, and is one if another column has values near it.
        (lines("a,b", "1.5,-999", "2.5,0.5"), {}),
        (lines("a,b", "1.5,-999", "-999,-998.5", "2.5,-1000.5"), {}),
        # A comma in a text separates nothing, nor does a semicolon in quotes.
        (lines("a;b", "x, y;1", "z, w;2"), {"sep": ";"}),
        (lines("a,b", '"x;y",1', '"z;w",2'), {}),
        # Names may be numbers, and a short first line is no heading: the reader of tables refuses it.
        (lines("2019;2020", "1;2", "3;4"), {"sep": ";"}),
        (lines("a,b", "1,2,3", "1,2,4"), {}),
        (lines("a;b", "1,5;2", "3"), {"sep": ";", "decimal": ","}),
        ("a;b\r1;2\r3;4\r", {"sep": ";"}),
        (lines("a;b", f"{'x ' * 100_000};2", "y;4"), {"sep": ";"}),
        ("", {}),
    ],
)
def test_nothing_is_guessed_between_two_readings_that_fit(tmp_path, text, expected):
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert guess_options(path) == expected


@pytest.mark.parametrize(
    ("last", "options"),
    [
        ("1.5,x,06/13/2025", {"parse_dates": ["c"], "date_format": {"c": "%m/%d/%Y"}}),
        ("1.5,x,later", {}),
    ],
)
def test_the_last_row_of_a_long_file_counts(tmp_path, monkeypatch, last, options):
    monkeypatch.setattr("entrolab.data.guessing.HEAD", 200)
    path = tmp_path / "table.csv"
    path.write_text(lines("a,b,c", *["12,y,06/12/2025"] * 100, last))
    assert guess_options(path) == options


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b\n\x81,\xff\n")  # cp1252 has no 0x81
    with pytest.raises(ValueError, match="accepted"):
        guess_options(path)
