"""Attacks: each is rejected, without any information but the reason."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote
from urllib.request import url2pathname

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from marey.cli.studio import open_browser
from marey.errors import InvalidValue
from marey.studio.panels.author_files import check_name
from marey.studio.places import Places, fit_name
from marey.studio.security import content_policy, own_hosts
from marey.studio.serve import bind
from tests.studio.client import WAIT, FakePage, Server

PATHS = ("/", "/assets/app.js", "/download/x/y", "/skin/x/m1", "/upload", "/ws", "/nowhere")


def without(headers: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in names}


# --- Token and cookie


def test_the_token_becomes_a_cookie_that_scripts_and_other_pages_do_not_get(server: Server) -> None:
    status, headers, _ = server.request("GET", f"/?token={server.address.token}", {"Host": server.host})
    assert (status, headers["location"]) == (303, "/")
    assert headers["set-cookie"] == f"{server.cookie}; Path=/; HttpOnly; SameSite=Strict"
    assert server.address.token not in server.cookie  # browsers send it to other ports of this machine too
    assert headers["referrer-policy"] == "no-referrer"
    status, _, body = server.request("GET", "/", {"Host": server.host, "Cookie": server.cookie})
    assert (status, body[:15]) == (200, b"<!doctype html>")


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_served_without_the_cookie(server: Server, path: str) -> None:
    for headers in ({"Host": server.host}, {"Host": server.host, "Cookie": f"{server.address.cookie}=guess"}):
        status, answered, body = server.request("GET", path, headers)
        assert status == 403
        assert b"address that `marey studio` printed" in body
        assert "set-cookie" not in answered
        assert server.address.token.encode() not in body


@pytest.mark.parametrize("token", ["", "guess", "x" * 43, "\0", "é"])
def test_a_wrong_token_is_refused(server: Server, token: str) -> None:
    assert server.request("GET", f"/?token={quote(token)}", {"Host": server.host})[0] == 403
    cookie = f"{server.address.cookie}={quote(token)}"
    assert server.request("GET", "/", {"Host": server.host, "Cookie": cookie})[0] == 403


def test_cookies_of_other_servers_do_no_harm(server: Server) -> None:
    cookies = f'_xsrf=2|x; j={{"a": "b;c"}}; é=1; =; {server.cookie}; last'.encode().decode("latin-1")
    assert server.request("GET", "/", {"Host": server.host, "Cookie": cookies})[0] == 200


def test_tokens_differ_from_start_to_start(clips: Path, built: Path, server: Server) -> None:
    other = Server(clips, built)
    assert len(other.address.token) >= 43
    assert other.address.token != server.address.token
    other.stop()


# --- Host and Origin


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil:{port}"]
)
@pytest.mark.parametrize("path", ["/", "/?token={token}", "/ws"])
def test_other_host_names_are_turned_away(server: Server, host: str, path: str) -> None:
    """With a foreign name that resolves to this machine, a foreign page would have the same origin."""
    headers = server.own() | {"Host": host.format(port=server.address.port)}
    status, answered, _ = server.request("GET", path.format(token=server.address.token), without(headers, "Origin"))
    assert status == 403
    assert "set-cookie" not in answered


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"])
def test_own_host_names_are_let_in(server: Server, host: str) -> None:
    name = host.format(port=server.address.port)
    assert server.request("GET", "/", {"Host": name, "Cookie": server.cookie})[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://{host}", "http://{host}.evil.example", "http://localhost:1"]
)
def test_requests_of_other_pages_are_turned_away(server: Server, origin: str) -> None:
    headers = server.own() | {"Origin": origin.format(host=server.host)}
    assert server.request("GET", "/", headers)[0] == 403
    assert server.request("POST", "/upload?session=x&name=a.bvh", headers, b"x")[0] == 403
    with pytest.raises(InvalidStatus, match="403"):
        server.socket(headers)


def test_changes_and_sockets_need_an_origin(server: Server) -> None:
    headers = without(server.own(), "Origin")
    assert server.request("POST", "/upload?session=x&name=a.bvh", headers, b"x")[0] == 403
    with pytest.raises(InvalidStatus, match="403"):
        server.socket(headers)


def test_requests_that_browsers_mark_as_foreign_are_turned_away(server: Server) -> None:
    for site in ("cross-site", "same-site"):
        assert server.request("GET", "/assets/app.js", server.own() | {"Sec-Fetch-Site": site})[0] == 403
    assert server.request("GET", "/assets/app.js", server.own() | {"Sec-Fetch-Site": "same-origin"})[0] == 200


def test_sockets_need_the_cookie(server: Server) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        server.socket(without(server.own(), "Cookie"))
    with pytest.raises(InvalidStatus, match="403"):
        server.socket(server.own() | {"Cookie": f"{server.address.cookie}=guess"})


# --- What the page may do


@pytest.mark.parametrize("path", ["/", "/assets/app.js", "/nowhere"])
def test_every_answer_restricts_the_page(server: Server, path: str) -> None:
    _, headers, _ = server.request("GET", path)
    assert headers["content-security-policy"] == content_policy(server.host)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_the_policy_allows_no_inline_script_and_nothing_from_elsewhere() -> None:
    policy = dict(part.strip().split(" ", 1) for part in content_policy("127.0.0.1:1").split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["connect-src"] == "'self' ws://127.0.0.1:1 blob:"
    assert "unsafe" not in content_policy("127.0.0.1:1")


# --- Files


@pytest.mark.parametrize(
    "name",
    [
        "..%2findex.html",
        "..%2f..%2fapp.py",
        "%2e%2e/app.py",
        "%2fetc%2fpasswd",
        "secret.py",
        "index.html%00.js",
        "",
        "x.js",
    ],
)
def test_only_files_of_the_page_are_served(server: Server, name: str) -> None:
    status, _, body = server.request("GET", f"/assets/{name}")
    assert status == 404
    assert b"no asset" not in body


def test_paths_cannot_leave_the_folder(server: Server, clips: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.bvh"
    outside.write_bytes((clips / "walk.bvh").read_bytes())
    link = clips / "link.bvh"
    link.symlink_to(outside)
    try:
        with FakePage(server) as page:
            for path in ("../outside.bvh", str(outside), "link.bvh", "deep/../../outside.bvh", "notes.txt"):
                for where in ("folder", "uploads"):
                    message = page.send("open", path=path, where=where)
                    with pytest.raises(Exception, match="path within|outside the open|no such file|not a motion file"):
                        page.answer(message)
            assert "link.bvh" not in [each["path"] for each in page.do("list")["files"]]
    finally:
        link.unlink()


def test_downloads_are_those_that_were_offered(server: Server) -> None:
    with FakePage(server) as page:
        session = page.welcome["session"]
        for name in ("..%2f..%2fuploads", "%2fetc%2fpasswd", "walk.bvh", "..", "%00"):
            assert server.request("GET", f"/download/{session}/{name}")[0] == 404
        assert server.request("GET", "/download/other/walk.bvh")[0] == 404
        info = page.do("open", path="walk.bvh")
        assert info["skin"] is None
        assert server.request("GET", f"/skin/{session}/{info['motion']}")[0] == 404


# --- Uploads


def upload(server: Server, session: str, name: str, body: bytes, **headers: str) -> tuple[int, dict[str, object]]:
    status, _, answer = server.request("POST", f"/upload?session={session}&name={name}", server.own() | headers, body)
    return status, json.loads(answer)


def test_uploads_are_bounded_whatever_they_say_of_themselves(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.places.UPLOAD_BYTES", 1000)
    with FakePage(server) as page:
        session = page.welcome["session"]
        assert upload(server, session, "a.bvh", b"x" * 1000)[0] == 200
        assert upload(server, session, "a.bvh", b"x" * 1001)[0] == 413
        assert upload(server, session, "a.bvh", b"", **{"Content-Length": "9" * 12})[0] == 413
        chunked = b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n"
        assert server.request(
            "POST", f"/upload?session={session}&name=b.bvh",
            server.own() | {"Transfer-Encoding": "chunked"}, chunked,
        )[0] == 413  # fmt: skip
        assert not list(server.studio.sessions.find(session).places.own.glob("tmp*"))  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["..%2fx.bvh", "%2fetc%2fx.bvh", "x.exe", "", ".x.bvh", "a%00.bvh", "a%0d%0aX:y.bvh"])
def test_uploads_have_plain_names_of_motion_files(server: Server, page: FakePage, name: str) -> None:
    status, report = upload(server, page.welcome["session"], name, b"x")
    assert status == 400
    assert "expected a file name" in str(report["text"]) or "not a motion file" in str(report["text"])


def test_uploads_need_a_session(server: Server) -> None:
    assert upload(server, "nobody", "a.bvh", b"x")[0] == 404


# --- Messages


def test_invalid_frames_end_the_socket(server: Server) -> None:
    for hostile in ("not json", "[1]", b"\x00\x01", '{"id": 1, "do": "open", "path": "walk.bvh"}'):
        socket = server.socket()
        socket.send(hostile)
        with pytest.raises(ConnectionClosed) as ended:
            socket.recv(timeout=WAIT)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1008
    with FakePage(server) as page:
        page.socket.send(b"\x00")
        with pytest.raises(ConnectionClosed) as ended:
            page.socket.recv(timeout=WAIT)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1003


def test_messages_are_bounded(server: Server) -> None:
    with FakePage(server) as page, pytest.raises(ConnectionClosed):
        flood(page)
    with FakePage(server) as page:
        assert page.do("list")["files"]


def flood(page: FakePage) -> None:
    page.socket.send(["x" * 2**20] * 5)
    page.socket.recv(timeout=WAIT)


def test_strange_commands_are_answered_in_one_sentence(server: Server, page: FakePage) -> None:
    page.socket.send(json.dumps({"do": "list"}))
    page.socket.send(json.dumps({"id": True, "do": "list"}))
    page.socket.send(json.dumps({"id": 900, "do": ["list"]}))
    page.socket.send(json.dumps({"id": 901, "do": "__class__"}))
    page.socket.send(json.dumps({"id": 902, "do": "open", "path": {"a": 1}}))
    page.socket.send(json.dumps({"id": 903, "do": "open", "path": "walk.bvh", "where": "/"}))
    report = []
    while len(report) < 6:
        report.append(json.loads(page.socket.recv(timeout=WAIT)))
    assert {each["kind"] for each in report} == {"failed"}
    assert [each["error"]["type"] for each in report[:4]] == [
        "InvalidValue",
        "InvalidValue",
        "UnknownName",
        "UnknownName",
    ]
    assert {each["id"] for each in report} == {0, 900, 901, 902, 903}


def test_a_job_cannot_call_other_functions(server: Server) -> None:
    from marey.studio.worker import find_function

    for call in ("os:system", "marey.studio.work:_rows", "marey.io:save", "builtins:eval"):
        with pytest.raises(InvalidValue, match="the worker runs functions of marey.studio"):
            find_function(call)


# --- Where it listens


def test_other_machines_are_let_in_on_request_only() -> None:
    with pytest.raises(InvalidValue, match="is reachable from other machines.*`expose=True`"):
        bind("0.0.0.0", 0)
    listening = bind("0.0.0.0", 0, expose=True)
    listening.close()
    mine = bind(port=0)
    assert mine.getsockname()[0] == "127.0.0.1"
    with pytest.raises(InvalidValue, match="cannot listen on 127.0.0.1 port"):
        bind(port=mine.getsockname()[1])
    mine.close()


def test_temporary_folders_are_for_the_owner_alone(page: FakePage, server: Server) -> None:
    session = server.studio.sessions.find(page.welcome["session"])
    assert session is not None
    assert session.places.own.stat().st_mode & 0o077 == 0
    assert session.places.own.stat().st_uid == os.getuid()


def test_a_cookie_with_the_token_is_refused(server: Server) -> None:
    cookie = f"{server.address.cookie}={server.address.token}"
    assert server.request("GET", "/", {"Host": server.host, "Cookie": cookie})[0] == 403


def test_the_standard_port_may_be_left_out() -> None:
    assert set(own_hosts("127.0.0.1", 80)) >= {"127.0.0.1:80", "127.0.0.1", "localhost"}
    assert "127.0.0.1" not in own_hosts("127.0.0.1", 8377)


# --- Connections


def is_closed(client: socket.socket) -> bool:
    client.settimeout(WAIT)
    try:
        return client.recv(100) == b""
    except ConnectionError:
        return True


def test_a_client_that_does_not_finish_its_request_is_dropped(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.sockets.HEADER_SECONDS", 0.1)
    for begin in (b"", b"GET / HTTP/1.1\r\nHost: "):
        with socket.create_connection(("127.0.0.1", server.address.port)) as client:
            client.sendall(begin)
            assert is_closed(client)
    monkeypatch.setattr("marey.studio.sockets.HEADER_SECONDS", 1.0)  # a busy machine may take long to send headers
    with FakePage(server) as page:  # a page stays
        time.sleep(1.2)
        page.do("list")


def test_unfinished_requests_do_not_shut_others_out(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.sockets.MAX_WAITING", 3)
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", server.address.port))) for _ in range(8)]
        for client in clients[:4]:
            assert is_closed(client)
        assert server.request("GET", "/")[0] == 200


def test_the_browser_is_opened_by_a_file_that_only_the_user_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    done = threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda url: (opened.append(url), done.set()))
    url = "http://127.0.0.1:8377/?token=secret"
    with ExitStack() as cleanup:
        open_browser(url, cleanup)
        assert done.wait(WAIT)
        (given,) = opened
        assert "secret" not in given
        path = Path(url2pathname(given.removeprefix("file://")))
        assert url in path.read_text()
        assert path.stat().st_mode & 0o077 == 0
    assert not path.exists()


@pytest.mark.parametrize("name", ["CON", "nul.bvh", "Com1.npz", "lpt9"])
def test_names_of_devices_are_no_file_names(tmp_path: Path, name: str) -> None:
    places = Places("s", None)
    with pytest.raises(InvalidValue, match="expected a file name"):
        places.check_upload(name, 10)
    with pytest.raises(InvalidValue, match="expected a name"):
        check_name(name)
    assert fit_name(name) == f"_{name}"
    assert fit_name("conga.bvh") == "conga.bvh"
    places.close()
