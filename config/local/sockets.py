"""Where the sockets of the embedded services lie, told alike to who starts them and to who connects."""

import hashlib
import os
import tempfile
from pathlib import Path

# The kernel's limit for a socket's whole path is 104 bytes on macOS, 108 on Linux.
_LIMIT = 100


def sockets_of(base: Path) -> Path:
    """The folder of the sockets: inside `base`, or where the path is too long, a short private one."""
    inside = base / "sockets"
    if len(os.fsencode(inside / ".s.PGSQL.5432")) < _LIMIT:
        return inside
    short = hashlib.sha256(os.fsencode(base)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"vermilion-{short}"
