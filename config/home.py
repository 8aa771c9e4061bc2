"""The front door: a person goes on to the inbox of their organisation, or chooses one of several."""

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tenants import doors


@require_safe
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """To the sign-in, to the one inbox, or the list of organisations."""
    if not request.user.is_authenticated:
        return redirect_to_login("/")
    found = doors.memberships(request.user.pk)
    if len(found) == 1:
        return HttpResponseRedirect(f"/t/{found[0].slug}/inbox/")
    return render(request, "home.html", {"memberships": found})
