"""The score tables of the demonstration are the golden ones."""

import pytest
from golden_tables import GOLDEN, check_golden

pytestmark = pytest.mark.workflow


def test_the_score_tables_of_the_demonstration_are_the_golden_ones(new_project):
    project = new_project()
    tables = [f"results/demo/tables/{file.name}" for file in sorted((GOLDEN / "demo").glob("*.csv"))]
    result = project.run(*tables)
    assert result.returncode == 0, result.stdout[-5000:]
    check_golden("demo", project.folder / "results" / "demo" / "tables")
