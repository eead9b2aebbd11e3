"""Studies that cannot be run, and the one line that says why."""

from collections.abc import Callable

import pytest

from entrolab.study.sections import ConfigError


def refused(load: Callable[..., object], *arguments, **options) -> str:
    """The one line with which a study is refused."""
    with pytest.raises(ConfigError) as caught:
        load(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message
