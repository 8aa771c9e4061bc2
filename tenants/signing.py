"""The seal of the audit chain: Ed25519 under AUDIT_KEY, so that a copy can be checked without the key."""

import base64
import hashlib
from functools import cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings


def sign(tenant: str, seq: int, digest: str) -> str:
    """The signature of a chain's entry, in base 64."""
    return base64.b64encode(_key(settings.AUDIT_KEY).sign(_message(tenant, seq, digest))).decode()


def is_signed(tenant: str, seq: int, digest: str, signature: str) -> bool:
    """Whether the signature of this entry was made under AUDIT_KEY."""
    try:
        public = _key(settings.AUDIT_KEY).public_key()
        public.verify(base64.b64decode(signature), _message(tenant, seq, digest))
    except (InvalidSignature, ValueError):
        return False
    return True


def seal(kind: str, statement: str) -> str:
    """The signature of a statement of this kind, in base 64; it can never pass for that of a chain's entry."""
    return base64.b64encode(_key(settings.AUDIT_KEY).sign(f"{kind} 1 {statement}".encode())).decode()


def public_key() -> str:
    """The key that proves the signatures, in base 64; it may be handed to anybody."""
    raw = _key(settings.AUDIT_KEY).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return base64.b64encode(raw).decode()


@cache
def _key(secret: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"audit chain 1 " + secret.encode()).digest())


def _message(tenant: str, seq: int, digest: str) -> bytes:
    return f"{tenant} {seq} {digest}".encode()
