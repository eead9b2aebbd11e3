"""Write the leaderboard pages: ``python -m entrolab.leaderboard docs/board results/report/board``."""

import argparse
from pathlib import Path

from entrolab.leaderboard.pages import write_pages


def main() -> None:
    """Write the pages and print their paths."""
    parser = argparse.ArgumentParser(prog="python -m entrolab.leaderboard", description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="folder with binary.csv, multiclass.csv, regression.csv and header.json"
    )
    parser.add_argument("output", type=Path, help="folder to write the pages to")
    options = parser.parse_args()
    try:
        first, *_ = write_pages(options.folder, options.output)
    except FileNotFoundError as error:
        parser.error(str(error))
    print(first.resolve().as_uri())


if __name__ == "__main__":
    main()
