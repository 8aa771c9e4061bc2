"""Where the sockets of the embedded services lie, told alike to who starts them and to who connects."""

import hashlib
import os
import re
import tempfile
from pathlib import Path

# The kernel's limit for a socket's whole path is 104 bytes on macOS, 108 on Linux.
_LIMIT = 100
# The path stands in addresses, which PostgreSQL, Celery and Valkey's library each unquote in a way of their own.
_PLAIN = re.compile(r"[A-Za-z0-9/._-]+")


def sockets_of(base: Path) -> Path:
    """The folder of the sockets: inside `base`, or where that path will not do, a short private one."""
    inside = base / "sockets"
    if len(os.fsencode(inside / ".s.PGSQL.5432")) < _LIMIT and _PLAIN.fullmatch(str(inside)):
        return inside
    short = hashlib.sha256(os.fsencode(base)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"vermilion-{short}"
