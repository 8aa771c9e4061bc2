"""Where the demo's services keep their books, and how its tools find them."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class NotUp(Exception):
    """A service of the demo has not said where it listens; nothing has been sent to it."""


def folder() -> Path:
    """The demo's own folder under LOCAL_DIR, made when it is missing."""
    path = ROOT / os.environ.get("LOCAL_DIR", ".local") / "demo"
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def announce(service: str, **address: object) -> None:
    """Says where `service` listens, in one step: a reader sees the old address or the new one."""
    target = folder() / f"{service}.json"
    draft = target.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps({**address, "pid": os.getpid()}), encoding="utf-8")
    draft.replace(target)


def read(service: str) -> dict[str, object]:
    """What `service` last said about where it listens; raises NotUp when it never did."""
    try:
        address: dict[str, object] = json.loads((folder() / f"{service}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError) as error:
        raise NotUp(f"The {service} is not up. Start it with: python manage.py up") from error
    return address


def url(service: str) -> str:
    """The base address of the web side of `service`, without a slash at its end."""
    return str(read(service)["url"])


def former_port(service: str, field: str = "port") -> int:
    """The port `service` had before it was started again, so that open pages keep working; else 0."""
    try:
        return int(str(read(service).get(field, 0)))
    except NotUp:
        return 0


def form_keys() -> dict[str, str]:
    """The keys with which the support form starts runs, by the slug of their organisation."""
    try:
        found = read("form-keys").get("keys")
    except NotUp:
        return {}
    return {str(slug): str(key) for slug, key in found.items()} if isinstance(found, dict) else {}


def shop_name(shop: str) -> str:
    """What people call the shop that the tools name by its tenant's id."""
    try:
        found = read("form-keys").get("shops")
    except NotUp:
        return shop
    return str(found.get(shop, shop)) if isinstance(found, dict) else shop
