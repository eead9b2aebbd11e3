"""The figure of a study's values against the published ones, a panel per metric."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from entrolab.io.atomic import replacing
from entrolab.report.studies import StudyResults
from entrolab.tables.verdicts import RESULTS
from entrolab.text import one_line
from entrolearn.plotting import AgreementDisplay, journal_style, panels_text, plot_panels, save_figure

LEFT_OUT = "Seconds, parameters and sizes of data sets are judged in their tables and left out here."
N_COLUMNS = 3
INCHES = 9.0


def agreement(results: StudyResults, file: Path) -> dict | None:
    """Draw a study's values against the published ones as an SVG file.

    The result has the keys file, alt (the counts) and says (the meaning of band and panels). It is None if
    there are no published values; no file is written then.
    """
    points = compared(results)
    if points.empty:
        return None
    panels, bands = {}, {}
    for name, rows in points.groupby("measured", sort=False):
        std = rows["published_std"].median()
        bands[name] = None if pd.isna(std) else float(std)
        panels[name] = AgreementDisplay(
            rows["published"], rows["ours"], rows["verdict"], name=name, band=bands[name]
        )
    with journal_style():
        figure = plot_panels(panels, n_columns=N_COLUMNS, width=INCHES, height=1.0, common=False)
        with replacing(file) as temporary:
            save_figure(figure, temporary)
    return {
        "file": f"{file.parent.name}/{file.name}",
        "alt": one_line(panels_text(panels)),
        "says": f"On the line, ours equals the published value. {_band_in_words(bands)}{LEFT_OUT}",
    }


def _band_in_words(bands: Mapping[str, float | None]) -> str:
    said = ", ".join(f"{name}: {band:.2g}" for name, band in bands.items() if band is not None)
    return said and (
        f"The grey band is the median of the published ± ({said}). Each number is judged by its own ±, so a "
        "number inside the band may differ and a number outside may agree. "
    )


def compared(results: StudyResults) -> pd.DataFrame:
    """The rows of a study's tables with a comparable published value, and the columns table and measured."""
    found = []
    for name, table in results.tables.items():
        quantities = results.study.spec_of_table(name).metrics
        rows = table[table["published"].notna() & table["ours"].notna() & table["verdict"].isin(RESULTS)]
        found.append(rows.assign(table=name, measured=[quantities[one].panel for one in rows["metric"]]))
    found = [rows[rows["measured"] != ""] for rows in found if len(rows)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["table", "measured"])
