"""Which machines can be fitted chunk by chunk, and that they saw every class that was announced."""

from collections.abc import Iterable

from entrolearn.machines.additive import Additive

__all__ = ["check_additive", "check_classes_seen"]


def check_additive(machine) -> None:
    """Refuse a machine whose fit is no sum over the rows.

    Raises
    ------
    TypeError
        That names those that are accepted.
    """
    if not isinstance(machine, Additive):
        raise TypeError(
            f"{type(machine).__name__} cannot be fitted chunk by chunk; accepted: EEMClassifier, "
            "EEKMClassifier, WELMClassifier(solver='cholesky'), ELMClassifier, ELMRegressor, "
            "RKELMClassifier, RKELMRegressor; of rows that Dask does not hold a pipeline that ends in one."
        )


def check_classes_seen(announced: Iterable, seen: Iterable) -> None:
    """Refuse classes without rows.

    Raises
    ------
    ValueError
    """
    seen = set(seen)
    missing = [label for label in announced if label not in seen]
    if missing:
        raise ValueError(f"no row has the label {missing[0]!r}, which classes names; found: {sorted(seen)}.")
