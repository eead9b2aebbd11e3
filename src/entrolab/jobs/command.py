"""The command `entrolab`: Snakemake with this package's Snakefile, in the present folder."""

import sys
from pathlib import Path


def home() -> Path:
    """The folder of the Snakefile, its rules and the studies: in the package, or the checkout around it."""
    package = Path(__file__).resolve().parents[1]
    shipped = package / "project"
    return shipped if shipped.is_dir() else package.parents[1]


def main() -> None:
    """Run Snakemake with the arguments of the command line."""
    from snakemake.cli import main

    sys.path.append(str(home()))  # where Snakemake finds the logger plugin of an installed package
    sys.argv[1:1] = ["--snakefile", str(home() / "Snakefile")]
    main()
