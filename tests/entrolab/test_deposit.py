"""What a deposit contains of the catalog of data sets."""

from pathlib import Path

import pytest
import yaml

from entrolab.deposit.packing import _entries
from entrolab.study.config import load_catalog, load_study

CONFIG = Path(__file__).parents[2] / "config"


@pytest.mark.parametrize("file", sorted((CONFIG / "papers").glob("*.yaml")), ids=lambda file: file.stem)
def test_a_study_can_be_read_with_the_deposited_entries_of_the_catalog(file, catalog, tmp_path):
    study = load_study(file, catalog)
    deposited = tmp_path / "datasets.yaml"
    deposited.write_text(yaml.safe_dump(_entries([CONFIG / "datasets.yaml"], [study])))
    assert load_study(file, load_catalog([deposited]))["tasks"] == study["tasks"]
