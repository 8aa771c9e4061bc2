"""The demo's own processes, for `manage.py up --with examples.refund_desk.processes`."""

import os
import socket
import sys
from collections.abc import Callable

from config.supervisor.processes import Process
from examples.refund_desk import greetings, orders, place

PACKAGE = "examples.refund_desk"


def answers(service: str) -> Callable[[], bool]:
    """Whether `service` can be reached where it last said it listens."""

    def look() -> bool:
        try:
            with socket.create_connection(("127.0.0.1", place.former_port(service)), timeout=2):
                return True
        except OSError:
            return False

    return look


def process(name: str, module: str) -> Process:
    return Process(name, (sys.executable, "-m", f"{PACKAGE}.{module}"), ready=answers(name))


PROCESSES = (
    process("ledger", "ledger"),
    process("carrier", "carrier"),
    process("mail", "mailsink"),
    process("form", "form"),
)
PREPARE = ((sys.executable, "-m", f"{PACKAGE}.load"),)


def environment() -> dict[str, str]:
    """What the other processes need to know: the agent's module, and where mail goes; what is set already stays."""
    orders.make()
    known = [name for name in os.environ.get("AGENT_MODULES", "").split(",") if name]
    return {
        "AGENT_MODULES": ",".join(dict.fromkeys([*known, f"{PACKAGE}.agent"])),
        "EMAIL_URL": os.environ.get("EMAIL_URL") or f"smtp://127.0.0.1:{place.read('mail')['smtp_port']}",
    }


def greeting() -> str:
    return greetings.text()
