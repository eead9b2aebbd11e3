"""Downloading, against a server that fails in every way that servers do."""

import hashlib
import ipaddress
import json
import ssl
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from scripted_server import answer, redirect, serving

from entrolab.data.download import Patience, download

DATA = b"".join(b"%d,%d,1\n" % (row, row * row) for row in range(2000))
IMPATIENT = Patience(tries=3, first_wait=0.01, connect=2, read=0.3, whole=5)


def entry_of(url, data=DATA, path="set/data.csv"):
    return {
        "files": [{"path": path, "url": url, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}]
    }


@pytest.fixture
def fetch(server, tmp_path):
    """Download the set from the server; give the receipt."""

    def run(**options):
        entry = options.pop("entry", None) or entry_of(server.url)
        return download("set", entry, tmp_path / "raw", patience=IMPATIENT, **options)

    return run


def refused(receipt, folder, *said):
    """The receipt tells, in one line with the data set, the file and the remedy; no file is left behind."""
    reason = receipt["reason"]
    assert receipt["available"] is False
    assert "\n" not in reason
    assert reason.startswith("set: ")
    for words in (*said, "set/data.csv", "put the file with sha256"):
        assert words in reason
    assert [path.name for path in (folder / "raw").iterdir()] == ["receipt.json"]


def unpinned(url):
    entry = entry_of(url)
    del entry["files"][0]["sha256"], entry["files"][0]["bytes"]
    return entry


def test_a_file_that_nobody_published_a_checksum_of_is_taken_as_it_comes(server, fetch, tmp_path):
    server.steps = [answer(DATA)]
    receipt = fetch(entry=unpinned(server.url))
    assert receipt["available"]
    assert receipt["files"][0]["sha256"] == hashlib.sha256(DATA).hexdigest()
    assert receipt["files"][0]["bytes"] == len(DATA)
    assert fetch(entry=unpinned(server.url))["files"][0]["source"] == "already there"


@pytest.mark.fault(
    "Network", "a body cut short, of a file that nobody has a checksum of", "told; no file left"
)
@pytest.mark.parametrize("body", [DATA[:1000], b""])
def test_a_file_without_a_checksum_is_still_as_long_as_the_server_said(server, fetch, tmp_path, body):
    server.steps = [answer(body, announced=len(DATA))]
    receipt = fetch(entry=unpinned(server.url))
    assert not receipt["available"]
    assert f"{len(body)} of {len(DATA)} bytes (cut short)" in receipt["reason"]
    assert "put the file at" in receipt["reason"]


def test_bytes_from_the_url_and_the_receipt_says_so(server, fetch, tmp_path):
    server.steps = [answer(DATA)]
    receipt = fetch(attempt=4)
    assert (tmp_path / "raw/data.csv").read_bytes() == DATA
    assert receipt == json.loads((tmp_path / "raw/receipt.json").read_text())
    assert receipt == {
        "dataset": "set",
        "available": True,
        "reason": "",
        "attempt": 4,
        "files": [
            {
                "path": "set/data.csv",
                "sha256": hashlib.sha256(DATA).hexdigest(),
                "bytes": len(DATA),
                "source": server.url,
            }
        ],
    }


def test_a_file_that_is_there_is_kept_without_asking(server, fetch, tmp_path):
    server.steps = [answer(DATA)]
    fetch()
    before = (tmp_path / "raw/data.csv").stat().st_mtime_ns
    assert fetch()["files"][0]["source"] == "already there"
    assert server.requests == 1
    assert (tmp_path / "raw/data.csv").stat().st_mtime_ns == before


@pytest.mark.fault("Network", "a file of an earlier download, damaged since", "fetched again")
def test_a_damaged_file_that_is_there_is_replaced(server, fetch, tmp_path):
    server.steps = [answer(DATA)]
    fetch()
    (tmp_path / "raw/data.csv").write_bytes(DATA[:-1])
    assert fetch()["available"]
    assert (tmp_path / "raw/data.csv").read_bytes() == DATA


def test_a_set_without_files_has_an_empty_receipt(tmp_path):
    receipt = download("two-moons", {"source": "generated"}, tmp_path)
    assert receipt["available"]
    assert receipt["files"] == []


@pytest.mark.fault("Network", "status 500, 408, 429, twice", "tried again, then there")
@pytest.mark.parametrize("status", [500, 408, 429])
def test_passing_errors_are_tried_again(server, fetch, status):
    server.steps = [answer(b"", status), answer(b"", status), answer(DATA)]
    assert fetch()["available"]
    assert server.requests == 3


CORRUPT = bytes([DATA[0] ^ 1]) + DATA[1:]
PAGE = b"<!DOCTYPE html><title>Sign in</title>"
TOLD = "told, with what to do; no file left"


def says(content: bytes):
    """A step of the server's that answers with bytes which are no HTTP."""
    return lambda handler: handler.wfile.write(content)


def fails(what, steps, *said, requests=1):
    return pytest.param(steps, said, requests, marks=pytest.mark.fault("Network", what, TOLD), id=what)


@pytest.mark.parametrize(
    ("steps", "said", "requests"),
    [
        fails("404", [answer(b"no", 404)], "404 Not Found"),
        fails("410", [answer(b"no", 410)], "410 Gone"),
        fails("503 for good", [answer(b"", 503)], "503 Serv", "after 3 tries", "try again", requests=3),
        fails("a byte", [answer(CORRUPT)], "wrong checksum", hashlib.sha256(CORRUPT).hexdigest()),
        fails("more bytes than the catalog says", [answer(DATA + b"x")], f"more than the {len(DATA)} bytes"),
        fails("a web page", [answer(PAGE, content_type="text/html")], "an HTML page instead of data"),
        fails("a long page", [answer(b"\n <html>" + b"x" * 10**6)], "an HTML page instead of data"),
        fails("a page with a mark", [answer(b"\xef\xbb\xbf<!-- proxy --><html>")], "an HTML page"),
        fails("a login page", [redirect("/login"), answer(PAGE)], "an HTML page", requests=2),
        fails("endless redirects", [redirect("/again")], "(Exceeded 30 redirects.)", requests=31),
        fails("a redirect to a file", [redirect("file:///etc/passwd")], "request failed ("),
        fails("a redirect to nonsense", [redirect("http://[::1")], "request failed ("),
        fails("a redirect to odd letters", [redirect("http://\xe9:x/")], "request failed ("),
        fails("a redirect to localhost", [redirect("http://localhost:9/")], "a redirect to localhost, a"),
        fails("a redirect to IPv6", [redirect("http://[::1]:9/")], "a redirect to ::1, a name of this machi"),
        fails("a redirect to a mapped address", [redirect("http://[::ffff:127.0.0.1]/")], "of this machine"),
        fails("a redirect to 0.0.0.0", [redirect("http://0.0.0.0:9/")], "a name of this machine"),
        fails("a redirect to secrets of a cloud", [redirect("http://169.254.169.254/")], "or its link"),
        fails("no answer", [says(b"")], "connection failed (", "after 3 tries", requests=3),
        fails("no HTTP", [says(b"HTTP/1.1 \x1b[2J\r\n\r\n")], "connection failed (", requests=3),
        fails("zero bytes", [says(b"\0" * 5000)], "connection failed (", requests=3),
    ],
)
def test_what_fails_for_good_is_told(server, fetch, tmp_path, steps, said, requests):
    server.steps = steps
    receipt = fetch()
    refused(receipt, tmp_path, *said)
    assert (server.requests, receipt["reason"].isprintable()) == (requests, True)


@pytest.mark.parametrize(
    ("url", "said"),
    # RFC 2606 keeps this domain for names that are none.
    [("http://data.invalid/", "connection failed ("), ("http://127.0.0.1:9/", "Connection refused")],
)
def test_no_server_is_told(tmp_path, url, said):
    receipt = download("set", entry_of(url), tmp_path / "raw", patience=IMPATIENT)
    refused(receipt, tmp_path, said, "after 3 tries", "try again later")


@pytest.mark.fault("Network", "429 with Retry-After", "waited for, two minutes at most")
@pytest.mark.parametrize(
    ("asked", "waits"), [("7", [7.0, 7.0]), ("100000", [120.0, 120.0]), ("soon", [0.01, 0.02])]
)
def test_retry_after_is_honoured_within_reason(server, fetch, monkeypatch, asked, waits):
    slept = []
    monkeypatch.setattr("tenacity.nap.time.sleep", slept.append)
    server.steps = [answer(b"", 429, headers=[("Retry-After", asked)])] * 2 + [answer(DATA)]
    assert fetch()["available"]
    assert slept == waits


@pytest.mark.fault("Network", "a body cut short", "told; the next run has it")
@pytest.mark.parametrize("announced", [len(DATA), "nothing"])
def test_a_cut_body_is_tried_again_then_told(server, fetch, tmp_path, announced):
    server.steps = [answer(DATA[:5000], announced=announced)]
    refused(fetch(), tmp_path, f"5000 of {len(DATA)} bytes (cut short)", "try again later")
    assert server.requests == 3
    server.steps = [answer(DATA)]
    assert fetch()["available"]


@pytest.mark.fault("Network", "a server that stalls", "told after the tries")
def test_a_stall_is_tried_again_then_told(server, fetch, tmp_path):
    def stall(handler):
        answer(DATA[:100], announced=len(DATA))(handler)
        handler.wfile.flush()
        server.closing.wait(10)

    server.steps = [stall]
    refused(fetch(), tmp_path, "nothing for 0.3 s (stalled)", "after 3 tries")


@pytest.mark.fault("Network", "a body that drips", "given up in its time")
def test_a_trickle_is_told(server, tmp_path):
    def trickle(handler):
        answer(b"", announced=len(DATA))(handler)
        while not server.closing.wait(0.02):
            handler.wfile.write(b"1")

    server.steps = [trickle]
    slow = Patience(tries=1, first_wait=0.01, connect=2, read=2, whole=0.2)
    refused(download("set", entry_of(server.url), tmp_path / "raw", patience=slow), tmp_path, "(too slow)")
    server.closing.set()


@pytest.mark.fault("Network", "a redirect to the data", "followed")
def test_a_redirect_to_the_data_is_followed(server, fetch):
    server.steps = [redirect("/elsewhere"), answer(DATA)]
    receipt = fetch()
    assert receipt["available"]
    # The receipt names the pinned address, which is what can be asked again.
    assert receipt["files"][0]["source"] == server.url


@pytest.fixture
def tls(tmp_path, monkeypatch):
    """What a server on 127.0.0.1 needs for https, with a certificate that this test trusts."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(address, critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file = tmp_path / "certificate.pem"
    file.write_bytes(
        key.private_bytes(pem, form, serialization.NoEncryption()) + certificate.public_bytes(pem)
    )
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@pytest.mark.fault("Network", "a redirect from https to http", "refused before it is asked; no file left")
def test_a_redirect_from_https_to_http_is_refused(server, tls, tmp_path):
    server.steps = [answer(DATA)]
    with serving("set/data.csv", tls) as guarded:
        guarded.steps = [redirect("/elsewhere"), answer(DATA)]
        entry = entry_of(guarded.url)
        assert download("set", entry, tmp_path / "other", patience=IMPATIENT)["available"]
        guarded.steps = [redirect(server.url)]
        receipt = download("set", entry, tmp_path / "raw", patience=IMPATIENT)
    refused(receipt, tmp_path, "a redirect from https to http from https://127.0.0.1")
    assert server.requests == 0


@pytest.mark.fault("Network", "a server that ~/.netrc has a password of", "the password is not sent")
def test_no_password_of_netrc_is_sent(server, fetch, tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    sent = []

    def noted(step):
        return lambda handler: (sent.append(handler.headers["Authorization"]), step(handler))

    server.steps = [noted(redirect("/elsewhere")), noted(answer(DATA))]
    assert fetch()["available"]
    assert sent == [None, None]


@pytest.mark.fault("Network", "a redirect with a body without end", "followed unread")
def test_what_a_redirect_says_besides_is_not_read(server, fetch):
    stopped = Event()

    def endless(handler):
        answer(status=302, announced="nothing", headers=[("Location", "/elsewhere")])(handler)
        try:
            while not server.closing.is_set():
                handler.wfile.write(bytes(1 << 16))
        except ConnectionError:  # the client has hung up
            stopped.set()

    server.steps = [endless, answer(DATA)]
    assert fetch()["available"]
    assert stopped.wait(10)


@pytest.mark.fault("Network", "a body without end, of a length that nobody said", "stopped; no file left")
def test_a_body_without_end_leaves_half_of_the_disk(server, new_disk, tmp_path):
    folder = tmp_path / "raw"
    new_disk(folder, "1m")

    def endless(handler):
        answer(DATA, announced="nothing")(handler)
        while not server.closing.is_set():
            handler.wfile.write(bytes(1 << 16))

    server.steps = [endless]
    receipt = download("set", unpinned(server.url), folder, patience=IMPATIENT)
    assert not receipt["available"]
    assert "more than half of the free disk" in receipt["reason"]
    assert [path.name for path in folder.iterdir()] == ["receipt.json"]


@pytest.mark.fault("Network", "headers that are no numbers", "the data taken all the same")
@pytest.mark.parametrize("nonsense", ["²", "-7", "9" * 5000, "soon"], ids=["²", "minus", "long", "words"])
def test_headers_that_are_no_numbers_are_passed_over(server, tmp_path, nonsense):
    nonsense = nonsense.encode().decode("latin-1")  # as http.server writes headers
    short = Patience(tries=2, first_wait=0.01, connect=2, read=0.3, whole=5)
    asked = [] if nonsense.isdecimal() else [("Retry-After", nonsense)]
    server.steps = [answer(b"", 503, headers=asked), answer(DATA, announced=nonsense)]
    assert download("set", unpinned(server.url), tmp_path, patience=short)["available"]


@pytest.mark.fault("Network", "the second file of two fails", "the next run fetches it alone")
def test_after_a_failure_the_next_run_gets_the_rest(server, tmp_path):
    first, second = entry_of(server.url), entry_of(server.url, path="set/more.csv")
    entry = {"files": first["files"] + second["files"]}
    server.steps = [answer(DATA), answer(b"", 404), answer(DATA)]
    assert not download("set", entry, tmp_path, patience=IMPATIENT)["available"]
    sources = [file["source"] for file in download("set", entry, tmp_path, patience=IMPATIENT)["files"]]
    assert sources == ["already there", server.url]


@pytest.fixture
def mirror(tmp_path):
    (tmp_path / "mirror/set").mkdir(parents=True)
    (tmp_path / "mirror/set/data.csv").write_bytes(DATA)
    return tmp_path / "mirror"


@pytest.mark.parametrize("entry", [entry_of, unpinned], ids=["pinned", "without a checksum"])
def test_the_mirror_comes_first(server, fetch, mirror, entry):
    receipt = fetch(entry=entry(server.url), mirror=mirror)
    assert receipt["files"][0]["source"] == "mirror"
    assert receipt["reason"] == ""
    assert server.requests == 0


@pytest.mark.fault("Network", "a mirror that lacks the file", "fetched from the address")
def test_what_the_mirror_lacks_comes_from_the_url(server, fetch, mirror):
    (mirror / "set/data.csv").unlink()
    server.steps = [answer(DATA)]
    receipt = fetch(mirror=mirror)
    assert receipt["files"][0]["source"] == server.url
    assert receipt["reason"] == ""


@pytest.mark.fault("Network", "a mirror whose path is too long to be one", "fetched from the address")
def test_a_mirror_of_300_letters_is_passed_over(server, fetch):
    server.steps = [answer(DATA)]
    assert fetch(mirror="m" * 300)["files"][0]["source"] == server.url


@pytest.mark.fault("Network", "a wrong file in the mirror", "told; fetched from the address")
def test_a_wrong_file_in_the_mirror_is_told_and_passed_over(server, fetch, mirror):
    (mirror / "set/data.csv").write_bytes(DATA[:-9])
    server.steps = [answer(DATA)]
    receipt = fetch(mirror=mirror)
    assert receipt["available"]
    assert receipt["files"][0]["source"] == server.url
    assert "wrong checksum" in receipt["reason"]
    assert str(mirror / "set/data.csv") in receipt["reason"]


@pytest.mark.fault("Disk", "too small for a download", "told before it begins, and asked for again")
def test_a_disk_that_is_too_small_is_told_and_a_larger_one_asked_again(server, fetch, tmp_path, new_disk):
    disk = new_disk(tmp_path / "raw", "16k")
    server.steps = [answer(DATA)]
    receipt = fetch()
    assert not receipt["available"]
    assert f"set/data.csv: {len(DATA)} bytes, but only " in receipt["reason"]
    disk.remount("size=1m")
    assert fetch()["available"]


@pytest.mark.fault(
    "Disk", "full while a download is written", "an error that says so; with room, a rerun completes"
)
def test_a_disk_that_fills_up_is_an_error_and_no_data_that_cannot_be_had(server, fetch, tmp_path, new_disk):
    disk = new_disk(tmp_path / "raw", "1m")

    def fill_up(handler):
        answer(DATA[:9000], announced=len(DATA))(handler)
        while not any(path.stat().st_size for path in disk.folder.glob(".data-*")):  # is being written
            assert not server.closing.wait(0.01)
        disk.fill()
        handler.wfile.write(DATA[9000:])

    server.steps = [fill_up, answer(DATA)]
    with pytest.raises(OSError, match=rf"disk is full: no room for {tmp_path}/raw/data\.csv; free some"):
        fetch()
    assert [path.name for path in (tmp_path / "raw").iterdir()] == [".filler"]
    disk.make_room()
    assert fetch()["available"]
