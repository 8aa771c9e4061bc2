"""Static files come whole, and none is left open where a page leaves before its answer."""

from pathlib import Path

from django.test import Client

FILE = Path(__file__).resolve().parents[2] / "static/seal.svg"
URL = "/static/seal.svg"


def test_a_file_comes_at_once_and_nothing_stays_open() -> None:
    answer = Client().get(URL)
    assert not answer.streaming
    assert answer.content == FILE.read_bytes()
    assert answer["content-type"].startswith("image/svg+xml")
    assert int(answer["content-length"]) == len(answer.content)


def test_what_is_wanted_of_it_is_all_that_comes() -> None:
    part = Client().get(URL, headers={"range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, FILE.read_bytes()[:10])
    known = Client().get(URL, headers={"if-modified-since": Client().get(URL)["last-modified"]})
    assert (known.status_code, known.content) == (304, b"")
    head = Client().head(URL)
    assert (head.status_code, head.content) == (200, b"")
    assert int(head["content-length"]) == FILE.stat().st_size
