"""What files of a configuration may say."""

import pytest

from entrolab.schema.sections import (
    ConfigError,
    Section,
    check,
    list_of,
    number,
    one_of,
    per_dataset,
    plain,
    whole,
)
from entrolab.tables.types import TABLE_TYPES


def test_every_type_says_what_its_entries_have():
    for name, one in TABLE_TYPES.items():
        assert {"type", "caption", "notes"} <= {*one.Entry.model_fields}, name


class Inner(Section):
    method: per_dataset(one_of("minmax", "maxabs"))


class Outer(Section):
    n: whole(ge=1, le=5)
    share: number(gt=0) = 1
    inner: Inner
    names: list_of(str, at_most=2) = []


def test_all_mistakes_of_a_file_are_told_each_in_one_line():
    with pytest.raises(ConfigError) as caught:
        check(Outer, {"n": 9, "share": 0, "inner": {"method": "minmaks"}, "names": ["a", "a"]}, "x.yaml")
    found = ["n: found 9", "share: found 0", "inner.method: found 'minmaks', did you mean 'minmax'"]
    assert_told(caught.value, *found, "names: found ['a', 'a']")


def test_a_misspelt_key_is_the_one_mistake_of_its_section_and_not_missing():
    with pytest.raises(ConfigError) as caught:
        check(Outer, {"n": 9, "iner": {"method": "minmax"}}, "x.yaml", "here")
    assert_told(caught.value, "here: unknown key 'iner', did you mean 'inner'")


def assert_told(error, *found):
    lines = str(error).splitlines()
    assert len(lines) == len(found)
    for line, place in zip(lines, found, strict=True):
        assert line.startswith(f"x.yaml: {place}")


def test_values_stay_as_they_are_written():
    """An integer stays one, defaults are filled in, and what has none is absent."""
    found = check(Outer, {"n": 2, "inner": {"method": {"of_dataset": "method"}}}, "x.yaml")
    assert plain(found) == {"n": 2, "share": 1, "inner": {"method": {"of_dataset": "method"}}, "names": []}
    assert isinstance(check(Outer, {"n": 2, "share": 3, "inner": {"method": "minmax"}}, "").share, int)
