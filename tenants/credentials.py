"""A tenant's own credentials for its tools, encrypted under FIELD_KEYS; the first key encrypts, all may decrypt."""

import base64
import hashlib

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

from tenants.models import Secret
from tenants.scope import current


def put(name: str, value: str) -> None:
    """Keep the credential `name` of the tenant in scope, in the place of a former one."""
    sealed = _box().encrypt(value.encode()).decode()
    Secret.objects.update_or_create(tenant_id=current(), name=name, defaults={"value": sealed})


def get(name: str) -> str | None:
    """The credential in the clear, or None where the tenant in scope has none of this name."""
    row = Secret.objects.filter(name=name).first()
    return None if row is None else _box().decrypt(row.value.encode()).decode()


def _box() -> MultiFernet:
    return MultiFernet([Fernet(_key(each)) for each in settings.FIELD_KEYS])


def _key(secret: str) -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(b"field 1 " + secret.encode()).digest())
