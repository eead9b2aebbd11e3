"""``python -m benchmarks``: measure, print the tables, write them to results/benchmarks."""

import argparse
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks import (
    clusterings,
    device,
    distributed,
    drift,
    information,
    kernel_densities,
    peers,
    predictions,
    reduced,
    scaling,
    searches,
    shortcuts,
    sparse_machines,
    streams,
    table,
    updates,
)
from benchmarks.races import Race, compared, run
from benchmarks.report import Section, machine, write
from entrolab.io.limits import LimitError, Limits

# Parts of the table -> function that makes their races; parts on real data take the mirror.
RACES: dict[str, Callable[..., Iterable[Race]]] = {
    "rate": scaling.rate,
    "memory": scaling.memory,
    "predictions": predictions.races,
    "density": shortcuts.density,
    "kernel_densities": kernel_densities.races,
    "covariance": shortcuts.covariance,
    "sparse": reduced.sparse,
    "large": reduced.large,
    "moves": clusterings.moves,
    "cec": clusterings.known,
    "centroids": clusterings.centroids,
    "error_entropy": information.entropies,
    "ica": information.components,
}
RACES_ON_DATA: dict[str, Callable[..., Iterable[Race]]] = {
    "peers": peers.races,
    "reduced": reduced.races,
    "searches": searches.races,
    "zero_norm": sparse_machines.races,
    "softmax": information.softmax,
    "mlp": information.perceptrons,
}
TABLE_PARTS = (*RACES_ON_DATA, *RACES)
# Parts with tables of their own, measured only if they are named. On generated data: title, and function that
# makes the section.
PARTS: dict[str, tuple[str, Callable[[Limits], Section]]] = {
    "deletions": ("Rows that are forgotten", updates.deletions),
    "digits": ("Digits after many updates", updates.digits),
    "streams": ("Rows on disk", streams.streams),
    "enough": ("How many rows are enough", streams.enough),
    "distributed": ("Worker processes", distributed.distributed),
    "reduction": ("Sums on their way", distributed.reduction),
}
# Likewise, with arguments of their own: the mirror of real data and the limits of each fit; sizes.
DRIFT = "drift"
ON_DEVICES = {
    "device": ("The machines on a device", device.device),
    "device-sums": ("Sums on a device, beside a plain loop", device.sums),
}
OTHER_PARTS = (*PARTS, DRIFT, *ON_DEVICES)
PART_LIMITS = Limits(seconds=600)  # for each measurement, which takes seconds on an idle machine


def main(arguments: Sequence[str] | None = None) -> list[Path]:
    """Run the parts named on the command line; return the files written."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    when = datetime.now()
    print(machine(), flush=True)
    for part in (each for each in TABLE_PARTS if each in options.parts):
        fill_table(part, options, when)
    done: list[Section] = []
    written: list[Path] = [options.table] if set(TABLE_PARTS) & set(options.parts) else []
    try:
        for section in sections(options):
            print(f"\n{section.markdown()}", flush=True)
            done.append(section)
    finally:  # also if interrupted
        written += write(done, options.output, when) if done else []
        print("\n" + "\n".join(f"written: {path}" for path in written))
    return written


def fill_table(part: str, options: argparse.Namespace, when: datetime) -> None:
    """Measure one part and write its rows into the table."""
    limits = Limits(options.limit_seconds, options.limit_gib)
    found = compared(pd.DataFrame(run(_races(part, options), limits, options.rounds)))
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    origin = {"part": part, "date": f"{when:%Y-%m-%d}", "load": load, "machine": machine()}
    found = found.assign(**origin)
    table.merge(found, options.table)
    shown = found.reindex(columns=["what", "ours", "peer", "ratio", "low", "high", "our_spent", "note"])
    print(f"\n{part}\n{shown.to_string(index=False)}", flush=True)


def _races(part: str, options: argparse.Namespace) -> Iterable[Race]:
    return RACES[part]() if part in RACES else RACES_ON_DATA[part](mirror=options.mirror)


def sections(options: argparse.Namespace) -> Iterator[Section]:
    """Yield the sections; one that fails contains the reason."""
    limits = Limits(options.limit_seconds, options.limit_gib)
    for part in PARTS:
        if part in options.parts:
            yield _part(*PARTS[part], PART_LIMITS)
    if DRIFT in options.parts:
        yield _part("Streams that drift", partial(drift.drift, mirror=options.mirror), limits)
    sizes = device.Sizes(options.device, options.device_units, options.device_rows)
    for part, (title, work) in ON_DEVICES.items():
        if part in options.parts:
            yield _part(title, partial(work, sizes=sizes), PART_LIMITS)


def _part(title: str, work: Callable[[Limits], Section], limits: Limits) -> Section:
    logging.getLogger(__name__).info(title)
    try:
        return work(limits)
    except (LimitError, RuntimeError) as error:
        return Section(title, notes=[f"Not finished: {error}"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add, numbers = parser.add_argument, {"nargs": "+", "type": int}
    add(
        "--parts",
        nargs="+",
        choices=(*TABLE_PARTS, *OTHER_PARTS),
        default=TABLE_PARTS,
        metavar="PART",
        help=f"of the table, {', '.join(TABLE_PARTS)} (default: all of these); {', '.join(OTHER_PARTS)}",
    )
    add("--rounds", type=int, default=5, help="rounds, each with all ways (default: 5)")
    add(
        "--table",
        type=Path,
        default=table.TABLE,
        metavar="CSV",
        help="whose rows are replaced (default: docs/benchmarks.csv)",
    )
    add("--limit-seconds", type=float, default=60, help="processor seconds for one measurement (default: 60)")
    add("--limit-gib", type=float, default=8, help="for one measurement (default: 8)")
    add("--device", default="", help="of torch, for the part device (default: cuda where there is one)")
    add("--device-units", **numbers, default=(), metavar="H", help="(default: 2000 to 20000 on a GPU)")
    add("--device-rows", **numbers, default=(), metavar="N", help="(default: 1e5, 1e6 … that fit)")
    add(
        "--mirror",
        default=os.environ.get("ENTROLEARN_MIRROR"),
        metavar="FOLDER",
        help="with the raw data; what it lacks is downloaded (default: $ENTROLEARN_MIRROR)",
    )
    add(
        "--output",
        type=Path,
        default=Path("results/benchmarks"),
        metavar="FOLDER",
        help="for the parts with tables of their own (default: results/benchmarks)",
    )
    return parser


if __name__ == "__main__":
    main()
