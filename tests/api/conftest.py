"""A client that speaks JSON with a key, and reads every answer with the strict loader."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tenants import exact_json
from tests.cast.people import Key


class ApiClient:
    """Sends as one key. An error that is no problem, or an answer that is no strict JSON, fails the test."""

    def __init__(self, key: Key | None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = key.headers if key else {}

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        text = body if isinstance(body, str | bytes) else "" if body is None else exact_json.dumps(body)
        response = self.client.generic(
            method, f"/api/v1{path}", text, content_type="application/json", headers={**self.headers, **headers}
        )
        if response.status_code >= 400:
            assert response["Content-Type"] == "application/problem+json", response.content
            problem = exact_json.loads(response.content)
            assert problem["status"] == response.status_code
            assert problem["code"]
            assert problem["detail"]
        return response  # type: ignore[no-any-return]

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("POST", path, body, **headers)

    def patch(self, path: str, body: Any) -> HttpResponse:
        return self.send("PATCH", path, body)

    def delete(self, path: str) -> HttpResponse:
        return self.send("DELETE", path)


def read(response: HttpResponse) -> Any:
    """The answer's value, exactly."""
    return exact_json.loads(response.content)


@pytest.fixture
def api() -> Callable[[Key | None], ApiClient]:
    """Makes a client of a key, or of nobody."""
    return ApiClient
