"""Recursive feature machines beside the plain learners, boosted trees and xRFM, on sets of the catalog.

Defaults are fixed on the sets for which :func:`benchmarks.halves.chosen_on` is true, by a hash of their
names; the others are looked at once the defaults stand.
"""

from benchmarks.halves import chosen_on

__all__ = ["FIXED_ON", "OTHERS", "SETS"]

SETS = (
    *("australian", "bank", "breast-cancer", "diabetes", "german-numer", "heart", "ionosphere", "splice"),
    *("liver-disorders", "sonar", "fourclass", "wdbc", "abalone7", "arrhythmia", "balance-scale", "skin"),
    *("car-eval-34", "ecoli-imu", "libras-move", "oil-spill", "sick-euthyroid", "solar-flare-m0", "adult"),
    *("spectrometer", "forest-cover", "isolet", "mammography", "webpages", "adult-raw"),  # binary
    *("segment", "satimage", "shuttle", "usps", "mnist", "sklearn-wine", "sklearn-digits", "sklearn-iris"),
    *("auto-mpg", "abalone", "california-housing", "wpbc", "computer-activity", "triazines", "bank8fm"),
    *("sklearn-diabetes", "mackey-glass"),  # regression
)
FIXED_ON = tuple(name for name in SETS if chosen_on(name))
OTHERS = tuple(name for name in SETS if not chosen_on(name))
