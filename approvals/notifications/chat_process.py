"""The process that speaks to chat services: apprise lives here alone; no name leads it inside, no address to a file.

It reads one JSON object from standard input, `{"allowed": [networks], "messages": [{"url", "title", "body"}]}`, and
writes a line for each message, in order: `""` for sent, else why not. It knows no Django and no database.
"""

import json
import logging
import socket
import sys
from typing import Any

import apprise

from approvals.notifications import guard

CONNECT, READ = 5.0, 10.0
_refused: list[str] = []


def main() -> None:
    """Send what stands in standard input."""
    sent = json.load(sys.stdin)
    allowed = guard.networks(sent["allowed"])
    _fence(allowed)
    apprise.AppriseAttachment.instantiate = staticmethod(_no_file)  # type: ignore[method-assign]
    for message in sent["messages"]:
        sys.stdout.write(json.dumps(_send(**message)) + "\n")
        sys.stdout.flush()


def _fence(allowed: tuple[guard.Network, ...]) -> None:
    """Let every name in this process lead outside only: what is connected to is what was checked."""
    ask = socket.getaddrinfo

    def checked(*args: Any, **kwargs: Any) -> Any:
        found = ask(*args, **kwargs)
        for entry in found:
            try:
                guard.demand(str(entry[4][0]), allowed)
            except guard.Inside as error:
                _refused.append(str(error))
                raise
        return found

    socket.getaddrinfo = checked


def _no_file(*_args: Any, **_kwargs: Any) -> None:
    """Nothing is read for an address: `?template=` would send its owner any file of this machine."""


def _send(url: str, title: str, body: str) -> str:
    """Why it was not sent, or ""."""
    heard = _Heard()
    logging.getLogger("apprise").addHandler(heard)
    try:
        service = apprise.Apprise.instantiate(f"{url}{'&' if '?' in url else '?'}cto={CONNECT}&rto={READ}")
        if service is None:
            return "apprise does not understand the address of this channel"
        service.verify_certificate = True  # Whatever the address says: the message holds a link, the address a key.
        if service.notify(title=title, body=body, body_format="text"):
            return ""
        return _refused[-1] if _refused else f"The service did not take it: {heard.said or 'it gave no reason'}"
    except Exception as error:
        return f"The service did not take it: {type(error).__name__}"
    finally:
        logging.getLogger("apprise").removeHandler(heard)


class _Heard(logging.Handler):
    """Keeps the number of the last HTTP error: apprise only logs it, beside words that may hold the address."""

    said = ""

    def emit(self, record: logging.LogRecord) -> None:
        words = record.getMessage()
        if "error=" in words:
            self.said = f"error {words.partition('error=')[2][:3]}"
        elif "Connection error" in words or "onnection" in words:
            self.said = "nobody answers there"


if __name__ == "__main__":
    main()
