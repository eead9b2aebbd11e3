"""The provenance of results: times, machines, versions and seeds."""

from collections.abc import Iterable, Mapping

from entrolab.text import one_line

# Number of digits of a checksum on a page.
SHORT = 12


def made(records: Iterable[Mapping]) -> list[tuple[str, str]]:
    """The times, machines and versions of records as (what, text) pairs, each distinct value once."""
    records = list(records)
    if not records:
        return [("runs", "none yet")]
    failed = sum(not record["success"] for record in records)
    started = sorted(record["started"][:16].replace("T", " ") for record in records)
    facts = [
        ("runs", f"{len(records)}, of which {failed} without a result"),
        ("started", " to ".join(dict.fromkeys((started[0], started[-1])))),
        ("seed", ", ".join(dict.fromkeys(str(record["seed"]) for record in records))),
        ("training", _duration(sum(record["seconds"] for record in records))),
    ]
    peak = max(records, key=lambda record: record.get("peak_mib", 0))
    if "peak_mib" in peak:
        mib = peak["peak_mib"]
        memory = f"{mib:.0f} MiB" if mib < 1024 else f"{mib / 1024:.1f} GiB"
        facts.append(("peak memory", f"{memory} ({peak['key']})"))
    for name in ("versions", "machine"):
        facts += [(name, text) for text in dict.fromkeys(_described(record[name]) for record in records)]
    return facts


def version(commit: str, lock: str) -> list[tuple[str, str]]:
    """The commit of the code and the checksum of its lock file, if they are known."""
    facts = [("commit", commit)] if commit else []
    return facts + ([("requirements.lock", f"sha256 {lock[:SHORT]}…")] if lock else [])


def in_short(records: Iterable[Mapping]) -> str:
    """The provenance of one study in one line: facts of `made` other than versions and machines."""
    facts = dict(made(records))
    kept = ("runs", "training", "peak memory", "started", "seed")
    return " · ".join(f"{name} {facts[name]}" for name in kept if name in facts)


def _described(facts: Mapping) -> str:
    return ", ".join(f"{name} {one_line(value)}" for name, value in facts.items())


def _duration(seconds: float) -> str:
    """Seconds of one core in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
