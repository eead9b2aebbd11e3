"""When, where and with what results were made."""

from collections.abc import Iterable, Mapping, Sequence

from entrolab.jobs.peak_memory import Peak
from entrolab.tables.types import one_line

# Digits of a checksum that tell it from all others at a glance.
SHORT = 12


def made(
    records: Iterable[Mapping], commit: str = "", peaks: Iterable[Peak | None] = (), lock: str = ""
) -> list[tuple[str, str]]:
    """Say when and where records were made: (what, text) pairs, each different value listed once."""
    records = list(records)
    facts = version(commit, lock)
    if not records:
        return [*facts, ("cells", "none yet")]
    failed = sum(not record["success"] for record in records)
    facts.append(("cells", f"{len(records)}, of which {failed} without a result"))
    started = sorted(record["started"] for record in records if record.get("started"))
    if started:
        days = dict.fromkeys((_moment(started[0]), _moment(started[-1])))
        facts.append(("begun", " to ".join(days)))
    if seeds := _seeds(records):
        facts.append(("seed", seeds))
    facts.append(("training", _duration(sum(record.get("seconds") or 0 for record in records))))
    if peak := max(filter(None, peaks), default=None):
        facts.append(("peak memory", f"{_memory(peak.mib)} ({peak.job})"))
    for name in ("versions", "machine"):
        seen = dict.fromkeys(_described(record[name]) for record in records if record.get(name))
        facts.extend((name, text) for text in seen)
    return facts


def version(commit: str, lock: str) -> list[tuple[str, str]]:
    """What the code and its environment were, as far as that is known."""
    facts = [("commit", commit)] if commit else []
    return facts + ([("requirements.lock", f"sha256 {lock[:SHORT]}…")] if lock else [])


def in_short(records: Sequence[Mapping]) -> str:
    """The same of one study in a line: how long it took, on what, and from which seed."""
    machines = dict.fromkeys(_machine(record["machine"]) for record in records if record.get("machine"))
    seconds = sum(record.get("seconds") or 0 for record in records)
    said = [f"{_core_time(seconds)} of training" + (f" on {', '.join(machines)}" if machines else "")]
    if days := sorted(record["started"][:10] for record in records if record.get("started")):
        said.append("begun " + " to ".join(dict.fromkeys((days[0], days[-1]))))
    if seeds := _seeds(records):
        said.append(f"seed {seeds}")
    return " · ".join(said) if records else "no cells yet"


def _seeds(records: Iterable[Mapping]) -> str:
    return ", ".join(dict.fromkeys(str(record["seed"]) for record in records if "seed" in record))


def _machine(facts: Mapping) -> str:
    """Its processor, where that is known, and its cores."""
    named = facts.get("processor") or facts.get("system", "")
    return one_line(f"{named}, {facts['cores']} cores" if "cores" in facts else named)


def _core_time(seconds: float) -> str:
    """A job trains on one core."""
    if seconds < 120:
        return f"{seconds:.0f} core-seconds"
    return f"{seconds / 60:.0f} core-minutes" if seconds < 7200 else f"{seconds / 3600:.1f} core-hours"


def _described(facts: object) -> str:
    if isinstance(facts, Mapping):
        return ", ".join(f"{name} {one_line(value)}" for name, value in facts.items())
    return one_line(facts)


def _moment(iso: str) -> str:
    return iso[:16].replace("T", " ")


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _memory(mib: float) -> str:
    return f"{mib:.0f} MiB" if mib < 1024 else f"{mib / 1024:.1f} GiB"
