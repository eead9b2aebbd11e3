"""The provenance of results: times, machines, versions and seeds."""

from collections.abc import Iterable, Mapping, Sequence

from entrolab.jobs.peak_memory import Peak
from entrolab.text import one_line

# Digits of a checksum that a page shows.
SHORT = 12


def made(
    records: Iterable[Mapping], commit: str = "", peaks: Iterable[Peak | None] = (), lock: str = ""
) -> list[tuple[str, str]]:
    """The times, machines and versions of records: (what, text) pairs, each different value once."""
    records = list(records)
    facts = version(commit, lock)
    if not records:
        return [*facts, ("runs", "none yet")]
    failed = sum(not record["success"] for record in records)
    facts.append(("runs", f"{len(records)}, of which {failed} without a result"))
    started = sorted(record["started"] for record in records if record.get("started"))
    if started:
        days = dict.fromkeys((_moment(started[0]), _moment(started[-1])))
        facts.append(("started", " to ".join(days)))
    if seeds := _seeds(records):
        facts.append(("seed", seeds))
    facts.append(("training", _duration(records, ["s", "min", "h"])))
    if peak := max(filter(None, peaks), default=None):
        facts.append(("peak memory", f"{_memory(peak.mib)} ({peak.job})"))
    for name in ("versions", "machine"):
        seen = dict.fromkeys(_described(record[name]) for record in records if record.get(name))
        facts.extend((name, text) for text in seen)
    return facts


def version(commit: str, lock: str) -> list[tuple[str, str]]:
    """The commit and the lock of the code, as far as they are known."""
    facts = [("commit", commit)] if commit else []
    return facts + ([("requirements.lock", f"sha256 {lock[:SHORT]}…")] if lock else [])


def in_short(records: Sequence[Mapping]) -> str:
    """The provenance of one study in a line: seconds, machines, days and seeds."""
    machines = dict.fromkeys(_machine(record["machine"]) for record in records if record.get("machine"))
    spent = _duration(records, ["core-seconds", "core-minutes", "core-hours"])  # a job trains on one core
    said = [f"{spent} of training" + (f" on {', '.join(machines)}" if machines else "")]
    if days := sorted(record["started"][:10] for record in records if record.get("started")):
        said.append("started " + " to ".join(dict.fromkeys((days[0], days[-1]))))
    if seeds := _seeds(records):
        said.append(f"seed {seeds}")
    return " · ".join(said) if records else "no runs yet"


def _seeds(records: Iterable[Mapping]) -> str:
    return ", ".join(dict.fromkeys(str(record["seed"]) for record in records if "seed" in record))


def _machine(facts: Mapping) -> str:
    """The processor of a machine, if it is known, and its cores."""
    named = facts.get("processor") or facts.get("system", "")
    return one_line(f"{named}, {facts['cores']} cores" if "cores" in facts else named)


def _described(facts: object) -> str:
    if isinstance(facts, Mapping):
        return ", ".join(f"{name} {one_line(value)}" for name, value in facts.items())
    return one_line(facts)


def _moment(iso: str) -> str:
    return iso[:16].replace("T", " ")


def _duration(records: Iterable[Mapping], units: Sequence[str]) -> str:
    """The seconds of some records in seconds, minutes or hours."""
    seconds = sum(record.get("seconds") or 0 for record in records)
    if seconds < 120:
        return f"{seconds:.0f} {units[0]}"
    return f"{seconds / 60:.0f} {units[1]}" if seconds < 7200 else f"{seconds / 3600:.1f} {units[2]}"


def _memory(mib: float) -> str:
    return f"{mib:.0f} MiB" if mib < 1024 else f"{mib / 1024:.1f} GiB"
