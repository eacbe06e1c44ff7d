"""Objects on loopback, in the manner of Amazon S3: put and fetched one by one."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

from tests.fakes.http_fake import HttpFake

_MISSING = b"<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"


class ObjectStore(HttpFake):
    """`objects` by their bucket and key, with a slash between."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.objects: dict[str, bytes] = {}

    @property
    def environment(self) -> dict[str, str]:
        """The environment that makes AWS' SDK use this store."""
        return {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }


class _Handler(BaseHTTPRequestHandler):
    fake: ObjectStore
    protocol_version = "HTTP/1.1"  # who puts an object waits to be told to continue

    def do_GET(self) -> None:
        found = self.fake.objects.get(self._name)
        self._answer(404 if found is None else 200, _MISSING if found is None else found)

    def do_PUT(self) -> None:
        self.fake.objects[self._name] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200)

    @property
    def _name(self) -> str:
        return unquote(self.path.partition("?")[0]).removeprefix("/")

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass
