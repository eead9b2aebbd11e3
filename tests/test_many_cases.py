"""Tests of many cases fail where one of them does."""

import pytest
from many_cases import for_each


def test_all_cases_are_tried_and_those_that_fail_are_named():
    tried, noted = [], {}

    @for_each("number", "divisor")
    def divides(number, divisor, most):
        tried.append(number)
        if divisor == 0:
            with pytest.raises(TypeError):
                pass
        assert number % divisor <= most

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases: 3, 2; 7, 0") as caught:
        divides(cases=[(4, 2), (3, 2), (7, 0), (9, 3)], record_property=noted.__setitem__, most=0)
    assert tried == [4, 3, 7, 9]
    assert noted == {"cases": 4}
    assert [type(error) for error in caught.value.exceptions] == [AssertionError, pytest.fail.Exception]
    assert caught.value.exceptions[0].__notes__ == ["case: {'number': 3, 'divisor': 2}"]
