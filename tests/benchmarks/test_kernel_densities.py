"""Kernel densities beside those of all pairs: the differences are within the stated bound."""

from benchmarks.kernel_densities import kernel_densities
from entrolab.fit.limits import Limits
from entrolearn.measures.gauss_sums import LOG_ERROR


def test_table_has_the_same_labels_and_small_differences():
    table = kernel_densities(Limits(seconds=120), sizes=(1500,)).table
    assert table.index.tolist() == [
        ("kde_entropy", 1500, 1),
        ("KDEClassifier", 1500, 1),
        ("KDEClassifier", 1500, 2),
    ]
    assert (table["difference"] <= LOG_ERROR).all()
    assert table["other labels"].dropna().tolist() == [0, 0]
    assert (table[["binned s", "exact ×", "peer ×"]] > 0).all(axis=None)
