"""Long runs of the fuzz: batches of cases in processes of their own, findings as lines of JSON.

``python -m fuzz --seconds 3600 --jobs 2 --seed 1`` checks batches of drawn cases, continues an interrupted
run, and prints a summary; ``python -m fuzz --case '{"estimator": ...}'`` checks one case.
"""

import argparse
import json
import multiprocessing
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fuzz.cases import drawn
from fuzz.laws import LAWS_OF, Broken, check

CASES = 200  # in each batch
# Limits of a batch, which has a process of its own: a numerical library cannot be interrupted.
SECONDS, BYTES = 600, 4 * 2**30
# Order of findings in the summary: wrong numbers first.
WORST_FIRST = ["finite", "outputs agree", "mutation", "refitted as judged", "form", "order", "shift", "scale"]
WORST_FIRST += ["chunks", "rows", "again", "refit", "pickle", "later", "rounding", "process"]
WORST_FIRST += ["answers after a good fit", "bounded time", "one clear line", "ordinary rows are not refused"]


def key_of(finding: dict) -> tuple:
    return tuple(finding[name] for name in ("estimator", "law", "kind", "place"))


def finding_of(case: dict, broken: Broken) -> dict:
    what = {"estimator": case["estimator"], "law": broken.law, "kind": broken.kind, "place": broken.place}
    return what | {"message": broken.message, "tail": broken.tail, "case": case}


def outcome_of(case: dict, current: Path) -> str | dict:
    """The outcome of a case, or a finding. The case is written first, in case it ends the process."""
    current.write_text(json.dumps(case))
    try:
        return check(case)
    except Broken as broken:
        return finding_of(case, broken)


def simplified(finding: dict, current: Path) -> dict:
    """The finding without the settings and the parts of the data that do not affect it."""
    for part in ("settings", "data") if finding["estimator"] != "EntropySearch" else ("data",):
        for name in list(finding["case"][part]):
            rest = {key: value for key, value in finding["case"][part].items() if key != name}
            outcome = outcome_of(finding["case"] | {part: rest}, current)
            if isinstance(outcome, dict) and key_of(outcome) == key_of(finding):
                finding = outcome
    return finding


def batch(seed: int, seen: set, current: Path) -> Iterator[dict]:
    """New findings of a batch, and at the end the counts of outcomes."""
    counts: Counter = Counter()
    for case in drawn(seed, CASES, LAWS_OF):
        outcome = outcome_of(case, current)
        failed = isinstance(outcome, dict)
        counts[case["estimator"], "failed" if failed else outcome] += 1
        if failed and key_of(outcome) not in seen:
            seen.add(key_of(outcome))
            yield outcome if outcome["kind"] == "TooSlow" else simplified(outcome, current)
    yield {"counts": [[*what, n] for what, n in sorted(counts.items())]}


def lines_of(results: Path) -> list[dict]:
    """The lines of a file of results, without a truncated last one."""
    lines = results.read_text().splitlines() if results.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def run_batch(seed: int, seen: set, current: Path, results: Path, name: dict) -> None:
    """Append the findings of a batch, in a process that the system ends at a limit."""
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    for line in batch(seed, seen, current):
        append(results, line | name)


def job(number: int, jobs: int, seed: int, until: float, results: Path) -> None:
    """Run batches and append their findings until the time is up."""
    current = results.with_suffix(f".{number}.json")
    while time.time() < until:
        known = lines_of(results)
        done = {line["batch"] for line in known if line["seed"] == seed and "counts" in line}
        name = {"seed": seed, "batch": next(n for n in range(number, 10**9, jobs) if n not in done)}
        seen = {key_of(line) for line in known if "law" in line}
        arguments = (seed * 10**6 + name["batch"], seen, current, results, name)
        process = multiprocessing.Process(target=run_batch, args=arguments)
        process.start()
        process.join()
        if process.exitcode:
            case = json.loads(current.read_text())  # no file: a fault of the fuzz itself
            how = signal.Signals(-process.exitcode).name if process.exitcode < 0 else "an error"
            finding = finding_of(case, Broken("process", f"ended by {how}", how))
            if key_of(finding) not in seen:
                append(results, finding | name)
            append(results, {"counts": [[case["estimator"], "failed", 1]]} | name)
    current.unlink(missing_ok=True)


def append(results: Path, line: dict) -> None:
    with results.open("a") as file:
        file.write(json.dumps(line) + "\n")


def run(seed: int, jobs: int, seconds: float, results: Path) -> None:
    """Run jobs in parallel until the time is up."""
    results.parent.mkdir(parents=True, exist_ok=True)
    arguments = [(number, jobs, seed, time.time() + seconds, results) for number in range(jobs)]
    processes = [multiprocessing.Process(target=job, args=one) for one in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def summary(results: Path) -> str:
    """Outcomes by estimator, then the findings in order of severity."""
    counts: dict[str, Counter] = {}
    findings: dict[tuple, dict] = {}
    for line in lines_of(results):
        for name, outcome, n in line.get("counts", []):
            counts.setdefault(name, Counter())[outcome] += n
        if "law" in line:
            findings.setdefault(key_of(line), line)
    counts["all"] = sum(counts.values(), Counter())
    outcomes = ["held", "refused", "undecided", "not claimed", "failed"]
    rows = [["", "cases", *outcomes]]
    rows += [[name, n.total(), *(n[outcome] for outcome in outcomes)] for name, n in sorted(counts.items())]
    lines = ["  ".join([f"{row[0]:32}", *(f"{cell:>11}" for cell in row[1:])]) for row in rows]
    place = {law: i for i, law in enumerate(WORST_FIRST)}
    for line in sorted(findings.values(), key=lambda line: (place.get(line["law"], 99), key_of(line))):
        lines += ["", " · ".join(filter(None, key_of(line))), f"  {line['message']}"]
        lines += [f"  {line['tail']}"] if line["tail"] else []
        lines += [f"  make fuzz CASE='{json.dumps(line['case'])}'"]
    return "\n".join([*lines, "", f"{len(findings)} findings in {results}"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0, help="how long to run; 0: only the summary")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("results/fuzz.jsonl"))
    parser.add_argument("--case", type=json.loads, help="a case, as findings have it")
    arguments = parser.parse_args()
    if arguments.case is None:
        run(arguments.seed, arguments.jobs, arguments.seconds, arguments.results)
        print(summary(arguments.results))
        return
    try:
        print(check(arguments.case))
    except Broken as broken:
        raise SystemExit(f"{broken} {broken.kind} {broken.place}\n{broken.tail}") from broken.__cause__


if __name__ == "__main__":
    main()
