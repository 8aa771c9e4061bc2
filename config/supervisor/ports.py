"""The address of the web process."""

import errno
import socket

from config.local.trouble import Trouble


def demand_free(host: str, port: int) -> None:
    """Raise Trouble where another program listens on `port` or this user may not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            raise _trouble(error, host, port) from error


def _trouble(error: OSError, host: str, port: int) -> Trouble:
    if error.errno == errno.EADDRINUSE:
        return Trouble(f"Port {port} is taken by another program. End it, or choose another: PORT={port + 1}")
    if error.errno == errno.EACCES:
        return Trouble(f"Port {port} may not be used by this user. Choose one above 1023, for example PORT=8000")
    return Trouble(f"{host}:{port} cannot be listened on: {error.strerror or error}.")


def reachable(host: str) -> str:
    """Where this machine reaches what listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
