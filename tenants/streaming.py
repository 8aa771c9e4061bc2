"""What is sent in parts: exports as NDJSON or CSV, a batch at a time, with no connection held between, and files."""

import csv
import io
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Literal, cast

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import FileResponse, HttpRequest, HttpResponseBase, StreamingHttpResponse

from tenants import wire

Format = Literal["ndjson", "csv"]
MEDIA_TYPES = {"ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
LINES = 200
BLOCK = 65_536
"""So many bytes of a file are read at a time."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula, full width as well."""


def form(text: str) -> Format:
    """The form that a page's address asks for; NDJSON where it asks for none of ours."""
    return "csv" if text == "csv" else "ndjson"


def export(rows: Iterator[Mapping[str, Any]], *, name: str, form: Format, columns: list[str]) -> StreamingHttpResponse:
    """The rows as a download. In CSV a value that is no scalar is JSON text, and no cell is a formula."""
    return attachment(_ndjson(rows) if form == "ndjson" else _csv(rows, columns), name=name, form=form)


def attachment(lines: Iterator[str], *, name: str, form: Format) -> StreamingHttpResponse:
    """The lines, each with its end, as a download."""
    response = StreamingHttpResponse(_parts(lines), content_type=MEDIA_TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


class StreamingMiddleware:
    """Lets the web process send an answer part by part; Django would first gather all of it in memory, and warn."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(request, ASGIRequest) and isinstance(response, StreamingHttpResponse) and not response.is_async:
            if isinstance(response, FileResponse):
                response.block_size = BLOCK
            response.streaming_content = _in_turns(cast("Iterator[bytes]", response.streaming_content))
        return response


def _ndjson(rows: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield wire.text(row) + "\n"


def _csv(rows: Iterator[Mapping[str, Any]], columns: list[str]) -> Iterator[str]:
    yield _line(columns)
    for row in rows:
        yield _line([_cell(row.get(column)) for column in columns])


def _line(cells: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(cells)
    return buffer.getvalue()


def _cell(value: Any) -> str:
    simple = wire.simple(value)
    text = simple if isinstance(simple, str) else "" if simple is None else wire.text(simple)
    return f"'{text}" if isinstance(simple, str) and text.startswith(FORMULA) else text


def _parts(lines: Iterator[str]) -> Iterator[str]:
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        if len(waiting) == LINES:
            yield "".join(waiting)
            waiting.clear()
    if waiting:
        yield "".join(waiting)


async def _in_turns(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    following = sync_to_async(_following)
    while (part := await following(parts)) is not None:
        yield part


def _following(parts: Iterator[bytes]) -> bytes | None:
    return next(parts, None)
