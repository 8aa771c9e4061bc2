"""What the ground floor hangs on a request: whose it is, and in which tenant."""

from django.http import HttpRequest

from tenants.actors import Actor
from tenants.keys import Bearer
from tenants.models import Member, Tenant
from tenants.refusals import Refusal


class TenantRequest(HttpRequest):
    """A page's request, after `tenants.middleware.TenantMiddleware`."""

    tenant: Tenant
    member: Member
    actor: Actor
    refusal: Refusal | None


class KeyRequest(HttpRequest):
    """An API request, after its key was read. For a service key `member` is the owner, whose roles bound it."""

    bearer: Bearer | None
    actor: Actor
    member: Member
    refusal: Refusal | None
