"""The provenance of results: times, machines, versions and seeds."""

from collections.abc import Iterable, Mapping, Sequence

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
        ("seed", _seeds(records)),
        ("training", _duration(records, ["s", "min", "h"])),
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


def in_short(records: Sequence[Mapping]) -> str:
    """The provenance of one study in one line: seconds, machines, days and seeds."""
    if not records:
        return "no runs yet"
    machines = ", ".join(dict.fromkeys(_machine(record["machine"]) for record in records))
    spent = _duration(records, ["core-seconds", "core-minutes", "core-hours"])  # a job trains on one core
    days = sorted(record["started"][:10] for record in records)
    started = " to ".join(dict.fromkeys((days[0], days[-1])))
    return f"{spent} of training on {machines} · started {started} · seed {_seeds(records)}"


def _seeds(records: Iterable[Mapping]) -> str:
    return ", ".join(dict.fromkeys(str(record["seed"]) for record in records))


def _machine(facts: Mapping) -> str:
    """The processor of a machine, or its system if that is unknown, and its cores."""
    return one_line(f"{facts['processor'] or facts['system']}, {facts['cores']} cores")


def _described(facts: Mapping) -> str:
    return ", ".join(f"{name} {one_line(value)}" for name, value in facts.items())


def _duration(records: Iterable[Mapping], units: Sequence[str]) -> str:
    """The seconds of some records in seconds, minutes or hours."""
    seconds = sum(record["seconds"] for record in records)
    if seconds < 120:
        return f"{seconds:.0f} {units[0]}"
    return f"{seconds / 60:.0f} {units[1]}" if seconds < 7200 else f"{seconds / 3600:.1f} {units[2]}"
