"""Text at rest that a copy of the database must not tell: encrypted under FIELD_KEYS."""

from functools import cache

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

from tenants.models import Secret
from tenants.scope import current


def conceal(text: str) -> str:
    """The text, encrypted under the first of FIELD_KEYS."""
    return _fernet(tuple(settings.FIELD_KEYS)).encrypt(text.encode()).decode()


def reveal(text: str) -> str:
    """What `conceal` hid, under any of FIELD_KEYS; raises cryptography's InvalidToken for all else."""
    return _fernet(tuple(settings.FIELD_KEYS)).decrypt(text.encode()).decode()


def keep(name: str, value: str) -> None:
    """Keep a credential of the tenant in scope under this name, in the place of a former one."""
    Secret.objects.update_or_create(tenant_id=current(), name=name, defaults={"value": conceal(value)})


def read(name: str) -> str:
    """The credential of the tenant in scope; raises LookupError where none has this name."""
    found = Secret.objects.filter(name=name).values_list("value", flat=True).first()
    if found is None:
        raise LookupError(f"The tenant has no secret named {name!r}.")
    return reveal(found)


@cache
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
