"""Whether a person proved a second factor just now: the one-time code that stands beside a critical answer."""

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.utils.translation import gettext as _

from tenants.requests import TenantRequest


def proved(request: TenantRequest) -> bool:
    """Whether this very request carries a valid one-time code of the signed-in person."""
    code = request.POST.get("code", "").strip()
    return bool(code) and _valid(request, code)


def error(request: TenantRequest) -> str:
    """What to say beside the code field: nothing before a code was sent."""
    if not has_one(request):
        return _("You have no second factor yet. Set one up under your account, then answer.")
    return _("This code is not valid. Type the one your device shows now.") if request.POST.get("confirm") else ""


def has_one(request: TenantRequest) -> bool:
    """Whether the person has set up one-time codes."""
    found = Authenticator.objects.filter(user_id=request.member.person_id, type=Authenticator.Type.TOTP)
    return bool(found.exists())


def _valid(request: TenantRequest, code: str) -> bool:
    found = Authenticator.objects.filter(user_id=request.member.person_id, type=Authenticator.Type.TOTP).first()
    if found is None:
        return False
    return bool(TOTP(found).validate_code(code))
