"""A local service that speaks as much S3 as storing takes: put, also in parts, get, list and delete, in memory."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

OLD = "Wed, 21 Oct 2015 07:28:00 GMT"


class Service(ThreadingHTTPServer):
    """Buckets by path; `failing` counts the requests that are still answered with a 503."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.failing = 0
        self.keys: set[str] = set()

    @property
    def url(self) -> str:
        return f"s3://values/below?endpoint=http://127.0.0.1:{self.server_port}&region=here"


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        content = self._body()
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if not self._works():
            return
        if "uploadId" in query:
            self.server.parts[path][int(query["partNumber"][0])] = content
        else:
            self.server.contents[path] = content
        self._answer(200)

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if not self._works():
            return
        if "list-type" in query:
            self._answer(200, self._listing(path, query["prefix"][0]))
        elif path in self.server.contents:
            self._answer(200, self.server.contents[path])
        else:
            self._answer(404)

    def do_DELETE(self) -> None:
        """Give an upload in parts up."""
        self.server.parts.pop(urlsplit(self.path).path, None)
        self._answer(204)

    def do_POST(self) -> None:
        """Begin an upload in parts, complete it, or delete several contents at once."""
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        body = self._body()
        if "uploads" in query:
            self.server.parts[path] = {}
            self._answer(200, b"<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
        elif "uploadId" in query:
            self.server.contents[path] = b"".join(part for _, part in sorted(self.server.parts.pop(path).items()))
            self._answer(200, b"<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>")
        else:
            self._delete(body)

    def _delete(self, body: bytes) -> None:
        asked = ElementTree.fromstring(body)  # Our own client wrote it.
        names = [each.text or "" for each in asked.iter() if each.tag.endswith("Key")]
        for name in names:
            self.server.contents.pop(f"{urlsplit(self.path).path}/{name}", None)
        done = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in names)
        self._answer(200, f"<DeleteResult>{done}</DeleteResult>".encode())

    def _listing(self, bucket: str, prefix: str) -> bytes:
        names = [path.removeprefix(f"{bucket}/") for path in self.server.contents]
        rows = "".join(
            f"<Contents><Key>{name}</Key><Size>1</Size><LastModified>2015-10-21T07:28:00Z</LastModified></Contents>"
            for name in names
            if name.startswith(prefix)
        )
        return f"<ListBucketResult>{rows}</ListBucketResult>".encode()

    def _body(self) -> bytes:
        self.server.keys.add(self.headers["Authorization"].partition("Credential=")[2].partition("/")[0])
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def _works(self) -> bool:
        if not self.server.failing:
            return True
        self.server.failing -= 1
        self._answer(503)
        return False

    def _answer(self, status: int, content: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", OLD)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service with an empty bucket, and the keys to it in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
    service = Service()
    thread = threading.Thread(target=service.serve_forever, daemon=True)
    thread.start()
    yield service
    service.shutdown()
    service.server_close()
    thread.join()
