"""Where a configuration's requests really go."""

from __future__ import annotations

import asyncio
import http.server
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm.factory import prepare_provider
from gns3server_copilot.llm.providers import connection
from tests.ground.model_script import text
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.cases import Case
from tests.unit.llm.providers.conftest import Ask


class Recording(http.server.BaseHTTPRequestHandler):
    """Notes what comes and answers as it is told."""

    status = 307
    target = ""
    seen: list[tuple[str, dict[str, str]]]

    def do_POST(self) -> None:
        self.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.send_response(self.status)
        if self.target:
            self.send_header("Location", self.target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_CONNECT = do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


Start = Callable[..., Any]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a server that notes what comes; gives its handler class, which has its `url` and what it has `seen`."""
    servers = []

    def begin(status: int = 307, target: str = "", context: ssl.SSLContext | None = None) -> Any:
        handler: Any = type("Handler", (Recording,), {"status": status, "target": target, "seen": []})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        handler.port = server.server_port
        return handler

    yield begin
    for server in servers:
        server.shutdown()
        server.server_close()


def lead(monkeypatch: pytest.MonkeyPatch, name: str, *addresses: str) -> list[str]:
    """Let a name lead to these addresses, one lookup after the other; gives the names that were looked up."""
    real, asked, left = socket.getaddrinfo, [], list(addresses)

    def lookup(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host not in (name, name.encode()):
            return real(host, port, *args, **options)
        asked.append(name)
        found = left.pop(0) if len(left) > 1 else left[0]
        kind = socket.AF_INET6 if ":" in found else socket.AF_INET
        return [(kind, socket.SOCK_STREAM, 6, "", (found, port))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return asked


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_key_does_not_follow_a_redirect(
    status: int, case: Case, model_server: ModelServer, ask: Ask, start: Start
) -> None:
    redirecting = start(status, f"{model_server.root_url}{case.path}")
    with pytest.raises(ModelError) as raised:
        await ask(case.config(model_server, base_url=f"http://127.0.0.1:{redirecting.port}"))
    assert raised.value.kind == "moved"
    assert len(redirecting.seen) == 1
    assert model_server.requests == []


async def test_a_host_name_is_looked_up_once_and_stays_in_the_request(
    case: Case, model_server: ModelServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    if case.name == "aws":
        pytest.skip("botocore looks names up by itself, once more than we do")
    asked = lead(monkeypatch, "models.example", "127.0.0.1", "169.254.169.254")
    model_server.script(text("Hello"))
    port = model_server.root_url.rpartition(":")[2]
    path = "/v1" if case.at_v1 else ""
    await ask(case.config(model_server, base_url=f"http://models.example:{port}{path}"))
    assert asked == ["models.example"]
    assert model_server.last_request.headers["host"] == f"models.example:{port}"


async def test_a_name_that_leads_to_a_link_local_address_is_refused(
    case: Case, model_server: ModelServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead(monkeypatch, "models.example", "169.254.169.254")
    with pytest.raises(ModelError) as raised:
        await ask(case.config(model_server, base_url="http://models.example:80"))
    assert raised.value.kind == "address"
    assert "link-local" in raised.value.message


async def test_an_unknown_host_is_said_to_be_unknown(case: Case, model_server: ModelServer, ask: Ask) -> None:
    with pytest.raises(ModelError) as raised:
        await ask(case.config(model_server, base_url="http://nowhere.invalid"))
    assert raised.value.kind == "unreachable"
    assert "not known" in raised.value.message


async def test_nobody_there_is_unreachable(case: Case, model_server: ModelServer, ask: Ask) -> None:
    with pytest.raises(ModelError) as raised:
        await ask(case.config(model_server, base_url="http://127.0.0.1:9"))
    assert raised.value.kind == "unreachable"


async def test_the_next_address_is_tried_when_one_refuses(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def two(host: str, port: int) -> list[str]:
        return ["::1", "127.0.0.1"]

    monkeypatch.setattr(connection, "addresses_for", two)
    port = model_server.root_url.rpartition(":")[2]
    async with connection.connect(httpx.AsyncClient, f"http://localhost:{port}", {}) as client:
        assert (await client.get(f"http://localhost:{port}/v1/models")).status_code == 200


async def test_a_certificate_is_checked_for_the_name_and_not_for_the_address(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
    ]
    names = ["-subj", "/CN=models.example", "-addext", "subjectAltName=DNS:models.example"]
    await asyncio.to_thread(
        subprocess.run, [*make, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    server = start(200, context=serving)
    monkeypatch.setattr(connection, "TLS", ssl.create_default_context(cafile=str(certificate)))
    lead(monkeypatch, "models.example", "127.0.0.1")
    url = f"https://models.example:{server.port}"
    async with connection.connect(httpx.AsyncClient, url, {"X-Key": "k"}) as client:
        assert (await client.post(url)).status_code == 200
    lead(monkeypatch, "other.example", "127.0.0.1")
    url = f"https://other.example:{server.port}"
    async with connection.connect(httpx.AsyncClient, url, {"X-Key": "k"}) as client:
        with pytest.raises(httpx.ConnectError):
            await client.post(url)
    assert len(server.seen) == 1


async def test_another_address_than_the_configurations_is_refused(model_server: ModelServer) -> None:
    async with connection.connect(httpx.AsyncClient, "http://127.0.0.1:9", {"X-Key": "k"}) as client:
        with pytest.raises(ModelError, match="left"):
            await client.get(f"{model_server.base_url}/models")


async def test_the_servers_proxy_is_used_and_gets_the_same_headers(
    case: Case, model_server: ModelServer, ask: Ask, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = start(503)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    lead(monkeypatch, "models.example", "10.0.0.5")  # nothing is sent there
    with pytest.raises(ModelError) as raised:
        await ask(case.config(model_server, base_url="http://models.example:80"))
    assert raised.value.kind == "provider"
    [(path, headers)] = proxy.seen
    assert path.startswith("http://models.example")
    assert headers["user-agent"].startswith("gns3server-copilot/")


async def test_the_key_is_in_nothing_that_the_client_shows(case: Case, model_server: ModelServer) -> None:
    from gns3server_copilot.llm.factory import create_base_model_with_tools
    from tests.unit.llm.providers.cases import KEY

    await prepare_provider(case.name)
    model: Any = create_base_model_with_tools([], case.config(model_server))
    for shown in (model, vars(model)):
        assert KEY not in repr(shown)
    assert KEY not in model.model_dump_json(fallback=repr)
