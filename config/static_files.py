"""Static files, each read at once: they are small, and one that is sent in parts stays open where its page has left."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # It has no types.
    """As the library's. Where a browser ends a request before its answer is there, Django never closes the answer."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        """The file, or what is wanted of it, with its headers."""
        found = WhiteNoiseMiddleware.serve(static_file, request)
        try:
            return HttpResponse(b"".join(found), status=found.status_code, headers=dict(found.items()))
        finally:
            found.close()
