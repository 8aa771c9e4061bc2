"""The OpenAPI document against the live API: schemathesis sends what it allows and what it does not."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cast.people import Key

CHECKS = "not_a_server_error,content_type_conformance,response_headers_conformance,status_code_conformance"


@pytest.mark.faults
def test_no_request_that_the_document_allows_or_forbids_breaks_the_server(live_server: Any, ravi_key: Key) -> None:
    words = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{live_server.url}/api/v1/openapi.json"]
    words += ["--checks", CHECKS, "--max-examples", "4", "--workers", "1", "--seed", "1", "--no-color"]
    words += ["-H", f"Authorization: {ravi_key.headers['Authorization']}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
