"""The demo's own processes, for `manage.py up --with examples.refund_desk.processes`.

The supervisor gives `environment()` to every process it starts, keeps each of `COMMANDS` running beside its own, and
once all of them are up runs each of `ONCE_UP` to its end, in order.
"""

import os
import socket
import sys

from examples.refund_desk import orders, place

AGENT_MODULE = "examples.refund_desk.agent"
PACKAGE = "examples.refund_desk"

COMMANDS: dict[str, list[str]] = {
    "ledger": [sys.executable, "-m", f"{PACKAGE}.ledger"],
    "carrier": [sys.executable, "-m", f"{PACKAGE}.carrier"],
    "mail": [sys.executable, "-m", f"{PACKAGE}.mailsink"],
    "form": [sys.executable, "-m", f"{PACKAGE}.form"],
}
ONCE_UP: list[list[str]] = [[sys.executable, "-m", f"{PACKAGE}.load"]]


def environment() -> dict[str, str]:
    """What the other processes need to know: the agent's module, and where mail goes; what is set already stays."""
    orders.make()
    known = [name for name in os.environ.get("AGENT_MODULES", "").split(",") if name]
    return {
        "AGENT_MODULES": ",".join(dict.fromkeys([*known, AGENT_MODULE])),
        "EMAIL_URL": os.environ.get("EMAIL_URL") or f"smtp://127.0.0.1:{mail_port()}",
    }


def mail_port() -> int:
    """A free port for the mail sink, its former one where that is free, told to it before it starts."""
    port = _free(place.former_port("mail", "smtp_port"))
    former = {"port": place.former_port("mail")} if place.former_port("mail") else {}
    place.announce("mail", **former, smtp_port=port)
    return port


def _free(wanted: int) -> int:
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise SystemExit("There is no free port on 127.0.0.1.")
