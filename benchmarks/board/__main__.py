"""Carry out the runs that docs/board/*.csv lack, in the environment of `make board-env`.

``.board/bin/python -m benchmarks.board binary --variant default --size 1000``. It may be stopped at any time,
and continues where it was stopped.
"""

import argparse
import os
import time

from benchmarks.board.running import (
    FOLDER,
    N_RUNS,
    by_turns,
    carry_out_due,
    due_runs,
    one_thread,
    warm_up,
    write_header,
)
from benchmarks.board.sets import BOARDS, SIZES, prepare, sets_of


def main() -> None:
    """Carry out the runs that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.board", description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("boards", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)} (default: all)")
    add("--variant", choices=("default", "threshold", "tuned"), default="default")
    add("--size", type=int, choices=SIZES, default=SIZES[0], help="rows at most (default %(default)s)")
    add("--hours", type=float, default=5, help="begin no run after so many (default %(default)s)")
    add("--mirror", default=os.environ.get("ENTROLEARN_MIRROR"), help="folder of raw files")
    options = parser.parse_args()
    unknown = [board for board in options.boards if board not in BOARDS]
    if unknown:
        parser.error(f"unknown board {unknown[0]!r}; accepted: {', '.join(BOARDS)}")
    if (options.variant, options.size) not in N_RUNS:
        planned = "; ".join(f"--variant {variant} --size {size}" for variant, size in N_RUNS)
        parser.error(
            f"no runs are planned for {options.variant} and {options.size} rows; accepted: {planned}"
        )
    one_thread()
    until = time.monotonic() + 3600 * options.hours
    for board in options.boards:
        prepare(sets_of(board), options.mirror)
    try:
        warm_up()
    except ImportError as error:
        parser.exit(1, f"board: {error}: run `make board-env`, then .board/bin/python -m benchmarks.board\n")
    made = write_header()
    runs = {board: due_runs(board, options.variant, options.size) for board in options.boards}
    for board, group in by_turns(runs):
        if time.monotonic() > until:
            break
        count = carry_out_due(FOLDER / f"{board}.csv", board, group, made, options.mirror, until)
        if count:
            print(f"{board}, {group[0].set}: {count} of {len(group)} runs", flush=True)


if __name__ == "__main__":
    main()
