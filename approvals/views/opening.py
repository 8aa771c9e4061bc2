"""The link of a message leads its own reader to the page, changes nothing, and tells others it is not theirs."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from approvals.notifications import links
from approvals.views import reading
from approvals.views.kinds import tenant_request


@require_safe
def follow(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Lead to the request, if the link was sent to the one who follows it, or to a chat channel of many."""
    mine = tenant_request(request)
    link = links.read(token)
    if link is None:
        raise Http404
    if link.member not in (None, mine.member.pk):
        words = _("This link was sent to somebody else. Sign in as that person, or ask to be asked.")
        return reading.uncached(render(request, "403.html", {"reason_text": words}, status=403))
    return HttpResponseRedirect(f"/t/{slug}/requests/{link.request}/")
