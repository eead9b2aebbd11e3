"""The published values of the papers' tables as tidy frames."""

import pandas as pd

from entrolab.io.files import HOME
from entrolab.schema.sections import check_known
from entrolab.tables.making import ADDRESS, CORRECTED, apply_corrections


def load_published(study: str, table: str | None = None, *, corrected: bool = True) -> pd.DataFrame:
    """Load the values that a paper publishes in one of its tables, or in all of them.

    The values come with the package; nothing is computed or downloaded.

    Parameters
    ----------
    study : str
        The paper's study: ``"ce_svm"``, ``"eem"``, ``"information_theory"``, ``"melm"`` or ``"rkelm"``.
    table : str, optional
        A table of the paper, such as ``"table4"`` or ``"starts"``; all tables by default, told apart by a
        first column ``table``.
    corrected : bool, default=True
        Whether misprinted values and headings are corrected, as the study's errata state. If False, all are
        as printed.

    Returns
    -------
    DataFrame
        One row per value, in the order of the paper. ``dataset``, ``model`` and ``metric`` are the keys of
        the study, empty where a table does without one. ``value`` is the published number, NaN where the
        paper has a dash; scores are in percent. ``std`` is the published ±, NaN where there is none.

    Raises
    ------
    ConfigError
        If there is no such study or table; it is a `ValueError`.

    Examples
    --------
    >>> from entrolab import load_published
    >>> table = load_published("eem", "table4")
    >>> table.columns.tolist()
    ['dataset', 'model', 'metric', 'value', 'std']
    >>> table[(table["dataset"] == "sonar") & (table["model"] == "svm_rbf")].values.tolist()
    [['sonar', 'svm_rbf', 'gmean', 83.0, 7.1]]
    """
    files = {file.stem: file for file in sorted((HOME / "config" / "published").glob("*.csv"))}
    check_known(study, files, "load_published", "study", "study")
    values = pd.read_csv(files[study], dtype=dict.fromkeys(ADDRESS, str))
    values[ADDRESS] = values[ADDRESS].fillna("")
    if corrected:
        values = apply_corrections(values)
    values = values.loc[:, ~values.columns.str.startswith(CORRECTED)]
    if table is None:
        return values
    check_known(table, values["table"].unique(), "load_published", study, "published table")
    rows = values[values["table"] == table]
    return rows.drop(columns="table").reset_index(drop=True)
