"""Test the claims of studies on the tables that have been made: ``python -m entrolab.claims melm``."""

import argparse
import sys

from entrolab.claims.evaluation import evaluate
from entrolab.claims.numbers import Numbers
from entrolab.claims.rendering import outcomes
from entrolab.claims.repository_tests import stored_outcomes
from entrolab.io.files import HOME
from entrolab.schema.sections import ConfigError, check_known
from entrolab.study.config import load_configuration, read_yaml


def main(arguments: list[str] | None = None) -> int:
    """Print the outcome of each claim of some studies; return the exit status, 2 if a study is unknown."""
    parser = argparse.ArgumentParser(prog="python -m entrolab.claims", description=__doc__)
    parser.add_argument("studies", nargs="*", help="default: all with claims")
    names = parser.parse_args(arguments).studies
    try:
        studies, _ = load_configuration(HOME, read_yaml(HOME / "config" / "config.yaml"))
        for name in names:
            check_known(name, studies, "entrolab.claims", "study", "study")
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    for name in names or [name for name, study in studies.items() if study.claims]:
        claims = studies[name].claims
        found = evaluate(claims, Numbers(studies[name]), stored_outcomes(name, claims, HOME))
        counted = ", ".join(f"{number} {outcome}" for outcome, number in outcomes(found).items())
        print(f"{name}: {counted}")
        for row in found.drop_duplicates("id").itertuples():
            print(f"  {row.outcome:<11} {row.id}" + (f": {row.decides}" if row.decides else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
