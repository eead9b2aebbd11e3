"""The names in the tables of the API's pages: what the site shows, and tests ask of docstrings."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Family -> its page.
FAMILIES = {page.stem: page for page in (ROOT / "docs" / "api").glob("*.rst") if page.stem != "index"}


def documented() -> list[str]:
    """Full names in the tables of the API's pages."""
    names, module = [], None
    for page in FAMILIES.values():
        for line in page.read_text().splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"   (\w+)$|\.\. (?:autodata|py:data):: (\w+)", line):
                names.append(f"{module}.{found[1] or found[2]}")
    return names
