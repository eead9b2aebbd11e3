"""The information of predictions about the true classes."""


def place_of(model: str, share: float) -> str:
    """The name of a row of the table, and of the model in its measurements.

    Examples
    --------
    >>> place_of("softmax", 0), place_of("softmax", 0.05)
    ('softmax', 'softmax_reject_0.05')
    """
    return f"{model}_reject_{share:g}" if share else model
