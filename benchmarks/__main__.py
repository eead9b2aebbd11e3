"""``python -m benchmarks``: measure, print the tables, write them to results/benchmarks."""

import argparse
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from benchmarks import (
    accumulation,
    clusterings,
    device,
    distributed,
    drift,
    feature_growth,
    feature_learning,
    information,
    kernel_densities,
    manifold,
    mutual_information,
    on_paper,
    own_tables,
    predictions,
    reduced,
    scaling,
    shortcuts,
    sparse_machines,
    streams,
    tracking_load,
    updates,
)
from benchmarks.comparison import compare
from benchmarks.data import SETS, load
from benchmarks.peers import PEERS
from benchmarks.report import Section, machine, write
from entrolab.data.dataset import DataUnavailable
from entrolab.fit.limits import LimitError, Limits

# Everything on data that are made: title and what makes the section.
PARTS: dict[str, tuple[str, Callable[[Limits], Section]]] = {
    "rate": ("Share of the peak rate", scaling.rate),
    "grid": ("Grid × folds", shortcuts.grid_search),
    "growth": ("Growth of the fit", scaling.growth),
    "memory": ("Memory", scaling.memory),
    "predictions": ("Predictions", predictions.predictions),
    "density": ("Divergence of densities", shortcuts.density),
    "kernel_densities": ("Kernel densities", kernel_densities.kernel_densities),
    "covariance": ("Covariance and shrinkage", shortcuts.covariance),
    "accumulation": ("Accumulation of products", accumulation.accumulation),
    "sparse": ("Sparse rows", reduced.sparse),
    "large": ("Very many rows", reduced.large),
    "processes": ("Processes", sparse_machines.processes),
    "objective": ("Divergence of projected classes", manifold.objective),
    "starts": ("Starts and solvers", manifold.starts),
    "shortcuts": ("Cheaper divergences", manifold.shortcuts),
    "moves": ("Moves of rows between clusters", clusterings.moves),
    "centroids": ("Centroids beside KMeans", clusterings.centroids),
    "error_entropy": ("Entropy of errors", information.entropies),
    "ica": ("Independent components", information.components),
    "information_seconds": ("Seconds of an estimate", mutual_information.seconds),
    "independence": ("Tests of independence", mutual_information.independence),
    "deletions": ("Rows that are forgotten", updates.deletions),
    "digits": ("Digits after many updates", updates.digits),
    "streams": ("Rows on disk", streams.streams),
    "enough": ("How many rows are enough", streams.enough),
    "distributed": ("Worker processes", distributed.distributed),
    "reduction": ("Sums on their way", distributed.reduction),
    "on_paper": ("Very many rows on several machines, on paper", on_paper.on_paper),
    "feature_growth": ("Feature learning, growth", feature_growth.growth),
    "feature_truth": ("Feature learning, known truth", feature_growth.truth),
    "own_tables": ("Wide and tall tables", own_tables.own_tables),
    "tracking": ("Writers to a tracking store", tracking_load.load),
}
# On real data, some of which may have to be made; each of their fits has the limits asked for.
PARTS_ON_DATA: dict[str, tuple[str, Callable[..., Section]]] = {
    "reduced": ("Reduced kernels", reduced.races),
    "search": ("Zero-norm machines beside linprog", sparse_machines.search),
    "programs": ("Programs that are kept", sparse_machines.programs),
    "support": ("Support vectors beside peers", sparse_machines.support),
    "softmax": ("Softmax regression", information.softmax),
    "mlp": ("Epochs of perceptrons", information.perceptrons),
    "drift": ("Streams that drift", drift.drift),
    "feature_learning": ("Feature learning", feature_learning.learning),
}
PEERS_PART = "peers"  # on the sets that are asked for, with the same limits
DEVICE_PART = "device"  # with sizes of its own
INFORMATION_PART = "information"  # likewise
ALL_PARTS = (PEERS_PART, *PARTS, *PARTS_ON_DATA, INFORMATION_PART, DEVICE_PART)
PART_LIMITS = Limits(seconds=600)  # for each measurement; a matter of seconds on a quiet machine


def main(arguments: Sequence[str] | None = None) -> list[Path]:
    """Measure what the command line asks for; return the files written."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    when = datetime.now()
    print(machine(), flush=True)
    done: list[Section] = []
    try:
        for section in sections(options):
            print(f"\n{section.markdown()}", flush=True)
            done.append(section)
    finally:  # also of a run that is interrupted
        written = write(done, options.output, when) if done else []
        print("\n" + "\n".join(f"written: {path}" for path in written))
    return written


def sections(options: argparse.Namespace) -> Iterator[Section]:
    """The sections in turn; one without data, or whose work fails, says so."""
    limits = Limits(options.limit_seconds, options.limit_gib)
    if PEERS_PART in options.parts:
        for name in options.sets:
            try:
                split = load(name, mirror=options.mirror, max_rows=options.max_rows)
            except DataUnavailable as absence:
                yield Section(f"Peers on {name}", notes=[f"Left out: {absence}"])
            else:
                yield compare(name, split, PEERS, options.repetitions, limits)
    for part in PARTS:
        if part in options.parts:
            yield _part(*PARTS[part], PART_LIMITS)
    for part in PARTS_ON_DATA:
        if part in options.parts:
            title, work = PARTS_ON_DATA[part]
            yield _part(title, partial(work, mirror=options.mirror), limits)
    if INFORMATION_PART in options.parts:
        work = partial(mutual_information.errors, sizes=options.information_rows)
        yield _part("Mutual information where it is known", work, PART_LIMITS)
    if DEVICE_PART in options.parts:
        sizes = device.Sizes(options.device, options.device_units, options.device_rows)
        yield _part("The machines on a device", partial(device.device, sizes=sizes), PART_LIMITS)


def _part(title: str, work: Callable[[Limits], Section], limits: Limits) -> Section:
    logging.getLogger(__name__).info(title)
    try:
        return work(limits)
    except (LimitError, RuntimeError) as error:
        return Section(title, notes=[f"Not finished: {error}"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add(
        "--parts",
        nargs="+",
        choices=ALL_PARTS,
        default=ALL_PARTS,
        metavar="PART",
        help=f"of {', '.join(ALL_PARTS)} (default: all)",
    )
    add(
        "--sets",
        nargs="+",
        default=list(SETS),
        metavar="SET",
        help=f"binary data sets for the peers: keys of the catalog, or generated (default: {' '.join(SETS)})",
    )
    add("--repetitions", type=int, default=3, help="for the peers (default: 3)")
    add(
        "--max-rows",
        type=int,
        default=75_000,
        help="to fit, and to predict, for the peers (default: 75000)",
    )
    add("--limit-seconds", type=float, default=60, help="for one learner (default: 60)")
    add("--limit-gib", type=float, default=8, help="for one learner (default: 8)")
    add(
        "--information-rows",
        nargs="+",
        type=int,
        default=mutual_information.SIZES,
        metavar="N",
        help="of each task, for the part information (default: 200 1000 5000)",
    )
    add("--device", default="", help="of torch, for the part device (default: cuda where there is one)")
    add(
        "--device-units",
        nargs="+",
        type=int,
        default=(),
        metavar="H",
        help="(default: 2000 to 20000 on a GPU)",
    )
    add("--device-rows", nargs="+", type=int, default=(), metavar="N", help="(default: 1e5, 1e6 … that fit)")
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
        help="for the tables (default: results/benchmarks)",
    )
    return parser


if __name__ == "__main__":
    main()
