"""Races: alternative ways to do the same work, measured in turn, and their ratios with intervals."""

import logging
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.measure import Spent, alone
from entrolab.io.limits import LimitError, Limits

logger = logging.getLogger(__name__)

CONFIDENCE = 0.95
# Factor of the wall-clock limit, which is only reached if work sleeps, or if the machine is very busy.
BUSY = 20


@dataclass(frozen=True)
class Race:
    """Alternative ways to do the same work.

    The first way is ours, the others are peers. A way is called with the number of the round, which
    determines rows and seeds, and returns its cost; the value is the number for comparing results.
    """

    what: str  # the work and its size
    ways: Mapping[str, Callable[[int], Spent]]
    result: str = ""  # the name of the number for comparing results, with its unit
    unit: str = "s"  # of the cost: seconds, or "MiB" to compare memory


def run(races: Iterable[Race], limits: Limits, rounds: int) -> Iterator[dict]:
    """Measure all ways in turn in each round; a way that fails is not measured again.

    Yields rows for :func:`compared`: race, way, round, cost, result, and a note with the reason of a failure.
    """
    for race in races:
        failed: set[str] = set()
        for number in range(rounds):
            for name, way in race.ways.items():
                if name in failed:
                    continue
                logger.info("%s, round %d of %d: %s", race.what, number + 1, rounds, name)
                row = {"what": race.what, "unit": race.unit, "measure": race.result, "way": name}
                row |= {"round": number, "spent": math.nan, "mib": math.nan, "result": math.nan, "note": ""}
                try:
                    found = on_processor(limits, way, number)
                except (LimitError, RuntimeError) as error:
                    failed.add(name)
                    row["note"] = f"{name}: {str(error).splitlines()[0]}"
                else:
                    row["spent"] = found.mib if race.unit == "MiB" else found.seconds
                    row |= {"mib": found.mib, "result": math.nan if found.value is None else found.value}
                yield row


def on_processor(limits: Limits, work: Callable, *arguments):
    """The value of ``work(*arguments)`` by :func:`alone`, with a limit of processor seconds."""
    patient = replace(limits, seconds=BUSY * limits.seconds)
    try:
        return alone(patient, _limited, limits.seconds, work, *arguments)
    except RuntimeError as error:
        if "SIGXCPU" in str(error):
            raise LimitError("time limit", f"over {limits.seconds:g} s") from error
        raise


def _limited(seconds: float, work: Callable, *arguments):
    end = time.process_time() + seconds

    def watch() -> None:
        while (left := end - time.process_time()) > 0:
            time.sleep(max(left / 2, 0.05))
        os.kill(os.getpid(), signal.SIGXCPU)

    # With the system's limit (RLIMIT_CPU), process_time would have only the resolution of scheduler ticks.
    threading.Thread(target=watch, daemon=True).start()
    return work(*arguments)


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per peer from rows of :func:`run`: medians of both, and the ratio of the peer's cost to ours.

    ``ratio`` is the geometric mean over the rounds in which both were measured, ``low`` and ``high`` the ends
    of its interval.
    """
    # A way that failed in some round has no median over the same rounds as the others.
    failed = (runs["note"] != "").groupby([runs["what"], runs["way"]]).transform("any")
    runs = runs.assign(**{name: runs[name].mask(failed) for name in ("spent", "mib", "result")})
    rows = []
    for what, race in runs.groupby("what", sort=False):
        ways = dict(list(race.groupby("way", sort=False)))
        ours = next(iter(ways))
        for peer in [*ways][1:] or [""]:
            row = {"what": what, "unit": race["unit"].iloc[0], "measure": race["measure"].iloc[0]}
            row |= {"ours": ours, "peer": peer}
            own = ways[ours].set_index("round")
            row |= _medians(own, "our")
            notes = [*own["note"]]
            if peer:
                theirs = ways[peer].set_index("round")
                row |= _medians(theirs, "peer")
                logs = np.log(theirs["spent"] / own["spent"]).dropna()
                row |= dict(zip(("ratio", "low", "high"), np.exp(interval(logs)), strict=True))
                row["rounds"] = len(logs)
                notes += [*theirs["note"]]
            else:
                row["rounds"] = own["spent"].count()
            rows.append(row | {"note": next(filter(None, notes), "")})
    return pd.DataFrame(rows)


def _medians(runs: pd.DataFrame, whose: str) -> dict[str, float]:
    return {f"{whose}_{name}": runs[name].median() for name in ("spent", "mib", "result")}


def interval(values: Iterable[float]) -> tuple[float, float, float]:
    """The mean and the ends of its Student interval, which are NaN for a single value.

    Examples
    --------
    >>> [round(float(value), 3) for value in interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    values = np.asarray(list(values), dtype=float)
    n = len(values)
    if n < 2:
        return (values[0] if n else math.nan, math.nan, math.nan)
    half = student.ppf((1 + CONFIDENCE) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n)
    return values.mean(), values.mean() - half, values.mean() + half
