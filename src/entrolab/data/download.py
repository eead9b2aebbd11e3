"""Download the files of data sets from a mirror or a URL, with checksums, retries and time limits."""

import hashlib
import ipaddress
import json
import logging
import os
import shutil
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urljoin, urlsplit

import requests
import tenacity
import urllib3

from entrolab.io.atomic import replacing, sha256_of
from entrolab.text import one_line

logger = logging.getLogger(__name__)

CHUNK = 1 << 16
LONGEST_WAIT = 120.0  # maximum seconds between two tries, also if Retry-After asks for more
RETRIED_STATUS = {408, 429}  # and every 5xx; other 4xx are permanent


class Refusal(Exception):
    """Raised if a file cannot be downloaded or is wrong; trying again does not help."""


class Passing(Refusal):
    """Raised for a temporary fault: try again after at least `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float = 0.0):
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Patience:
    """The number of tries per file, and time limits in seconds."""

    tries: int = 5
    first_wait: float = 1.0  # before the second try; doubled before each further try
    connect: float = 10.0  # to connect
    read: float = 60.0  # between two packets
    whole: float = 1800.0  # for the whole file, since a server may be very slow

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next try, for tenacity."""
        doubled = self.first_wait * 2.0 ** (state.attempt_number - 1)
        return min(LONGEST_WAIT, max(doubled, state.outcome.exception().retry_after))


def download(key, entry, folder, *, mirror=None, attempt=1, patience=Patience()) -> dict:
    """Download the files of a data set and write a receipt; a file that is not available is not an error.

    A file already in `folder` with the right sha256 is kept. Otherwise it is copied from ``<mirror>/<path>``
    if that exists, or downloaded from its URL; it is stored in `folder` only if its checksum is right. A file
    without a published checksum is accepted, and the receipt states its actual checksum.

    `key` and `entry` are those of the catalog. The number `attempt` is stored in the receipt; the workflow
    increases it to try unavailable files again. The receipt, also written to ``receipt.json`` in `folder`,
    has dataset, available, reason (or a remark), attempt, and files, each with path, sha256, bytes and source
    (none for bundled and generated data sets).
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    receipt = {"dataset": key, "available": True, "reason": "", "attempt": attempt, "files": []}
    remarks: list[str] = []
    try:
        for file in entry.get("files", []):
            target = folder / Path(file["path"]).name
            source = _obtain(file, target, mirror, patience, remarks)
            facts = {"path": file["path"], "sha256": sha256_of(target), "bytes": target.stat().st_size}
            receipt["files"].append(facts | {"source": source})
    except Refusal as refusal:
        receipt["available"] = False
        remarks.append(f"{refusal}; {_remedy(refusal, file, mirror)}")
    if remarks:
        receipt["reason"] = one_line(f"{key}: {'; '.join(remarks)}", limit=2000)
    with replacing(folder / "receipt.json") as temporary:
        temporary.write_text(json.dumps(receipt, indent=2) + "\n", encoding="utf-8")
    return receipt


def _obtain(file: dict, target: Path, mirror, patience: Patience, remarks: list[str]) -> str:
    """Copy or download one file; return its source."""
    if target.is_file() and file.get("sha256") in (None, sha256_of(target)):
        return "already there"
    original = Path(mirror).expanduser() / file["path"] if mirror else None
    if original and os.path.exists(original):  # False, not an error, if the path is too long
        try:
            return _copy(file, original, target)
        except Refusal as refusal:
            remarks.append(str(refusal))
    return _fetch(file, target, patience)


def _copy(file: dict, original: Path, target: Path) -> str:
    try:
        with replacing(target) as temporary:
            shutil.copyfile(original, temporary)
            _check(file, sha256_of(temporary), original)
    except OSError as error:
        raise Refusal(f"{original}: {error.strerror or error}") from error
    return "mirror"


def _fetch(file: dict, target: Path, patience: Patience) -> str:
    attempts = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(patience.tries),
        wait=patience.wait,
        retry=tenacity.retry_if_exception_type(Passing),
        before_sleep=tenacity.before_sleep_log(logger, logging.WARNING),
        reraise=True,
    )
    try:
        attempts(_fetch_once, file, target, patience)
    except Refusal as fault:
        tries = f" after {patience.tries} tries" if isinstance(fault, Passing) else ""
        raise type(fault)(f"{file['path']}: {fault} from {file['url']}{tries}") from fault
    return file["url"]


def _fetch_once(file: dict, target: Path, patience: Patience) -> None:
    deadline = time.monotonic() + patience.whole
    # No compression in transit, so that sizes can be checked on arrival.
    options = {"timeout": (patience.connect, patience.read), "headers": {"Accept-Encoding": "identity"}}
    try:
        with (
            _Session() as session,
            session.get(file["url"], stream=True, **options) as response,
            replacing(target) as temporary,
        ):
            _check_status(response)
            digest = _receive(response, temporary, file, deadline)
            _check(file, digest, "what arrived")
    except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise Passing(f"nothing for {patience.read:g} s (stalled)") from error
    except (requests.ConnectionError, urllib3.exceptions.HTTPError) as error:
        raise Passing(f"connection failed ({one_line(_root(error))})") from error
    except (requests.RequestException, ValueError) as error:  # ValueError: an invalid URL
        raise Refusal(f"request failed ({one_line(error)})") from error


class _Session(requests.Session):
    """A session that ignores ``~/.netrc`` and refuses redirects from https to http or to this machine.

    The bodies of redirects are not read, because requests would keep them in memory.
    """

    def __init__(self):
        super().__init__()
        self.auth = lambda request: request  # otherwise requests reads ~/.netrc

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Read no ~/.netrc for a redirect either."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target is not None:
            resp.close()
            _check_redirect(urlsplit(resp.url), urlsplit(urljoin(resp.url, target)))
        return target


def _check_redirect(old: SplitResult, new: SplitResult) -> None:
    if (old.scheme, new.scheme) == ("https", "http"):
        raise Refusal("a redirect from https to http")
    if new.hostname != old.hostname and _is_this_machine(new.hostname):
        raise Refusal(f"a redirect to {new.hostname}, a name of this machine or its link,")


def _is_this_machine(host: str | None) -> bool:
    """Whether a host name resolves to a loopback or link-local address."""
    try:
        found = {ipaddress.ip_address(answer[4][0]) for answer in socket.getaddrinfo(host, None)}
    except (OSError, ValueError):  # unknown here, but a proxy may resolve it
        return False
    addresses = {getattr(one, "ipv4_mapped", None) or one for one in found}
    return any(one.is_loopback or one.is_unspecified or one.is_link_local for one in addresses)


def _check_status(response: requests.Response) -> None:
    status = response.status_code
    if status < 400:
        return
    found = one_line(f"{status} {response.reason}")
    if status in RETRIED_STATUS or status >= 500:
        asked = response.headers.get("Retry-After", "")  # in seconds; a date is ignored
        raise Passing(found, float(asked) if asked.isdecimal() else 0.0)
    raise Refusal(found)


def _receive(response: requests.Response, target: Path, file: dict, deadline: float) -> str:
    """Write the body to `target`, up to the expected number of bytes, and return its sha256.

    If neither the catalog nor the server states a size, half of the free disk space is the limit.
    """
    digest = hashlib.sha256()
    free = shutil.disk_usage(target.parent).free
    size, expected = 0, file.get("bytes", response.raw.length_remaining)
    if free < (expected or 0):
        raise Refusal(f"{expected} bytes, but only {free} are free in {target.parent}")
    most = free // 2 if expected is None else expected
    response.raw.enforce_content_length = False  # the size in the catalog decides
    with target.open("wb") as output:
        # read1 returns the bytes that have arrived, so a slow server is noticed in time.
        while chunk := response.raw.read1(CHUNK, decode_content=True):
            if size == 0 and _is_html(chunk):
                raise Refusal("an HTML page instead of data")
            size += len(chunk)
            if size > most:
                told = "half of the free disk" if expected is None else f"the {most} bytes expected"
                raise Refusal(f"more than {told}")
            if time.monotonic() > deadline:
                raise Passing(f"{size} bytes in the time limit (too slow)")
            digest.update(chunk)
            output.write(chunk)
    if size < (expected or 1):
        raise Passing(f"{size} of {expected or 'some'} bytes (cut short)")
    return digest.hexdigest()


def _is_html(chunk: bytes) -> bool:
    start = chunk.removeprefix(b"\xef\xbb\xbf").lstrip()[:14].lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<!--"))


def _check(file: dict, sha256: str, what) -> None:
    if sha256 != file.get("sha256", sha256):
        raise Refusal(f"wrong checksum: {what} has sha256 {sha256}, the catalog says {file['sha256']}")


def _root(error: BaseException) -> str:
    """The message of the innermost cause, such as "connection refused"."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _remedy(refusal: Refusal, file: dict, mirror) -> str:
    again = "try again later, or " if isinstance(refusal, Passing) else ""
    place = f"{mirror or '<mirror>'}/{file['path']}"
    named = "" if mirror else " and give that folder as mirror (--config mirror=<mirror>)"
    which = f" with sha256 {file['sha256']}" if "sha256" in file else ""
    return f"{again}put the file{which} at {place}{named}"
