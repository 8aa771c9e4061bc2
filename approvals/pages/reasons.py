"""Why a message did not arrive, in the reader's language: it is kept in English, as it happened."""

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

_KNOWN = {
    r"no longer needed": gettext_lazy("No longer needed"),
    r"the channel (?:is|was) switched off": gettext_lazy("the channel was switched off"),
    r"the channel was removed": gettext_lazy("the channel was removed"),
    r"the event is past its retention": gettext_lazy("the event is past its retention"),
    r"The receiver answered (?P<n>\d+)": gettext_lazy("the receiver answered %(n)s"),
    r"410: the receiver says that it is gone for good": gettext_lazy("410: the receiver says that it is gone for good"),
    r"(?P<n>\d+): it redirects, and redirects are not followed": gettext_lazy(
        "%(n)s: it redirects, and redirects are not followed"
    ),
    r"No answer within (?P<n>\d+) seconds": gettext_lazy("no answer within %(n)s seconds"),
    r"The service did not answer within (?P<n>\d+) seconds": gettext_lazy("no answer within %(n)s seconds"),
    r"The service did not take it: error (?P<n>\d+)": gettext_lazy("the service did not take it: error %(n)s"),
    r"The service did not take it: nobody answers there": gettext_lazy("nobody answers there"),
    r"The service did not take it: it gave no reason": gettext_lazy("the service did not take it and gave no reason"),
    r"apprise does not understand the address of this channel": gettext_lazy(
        "apprise does not understand the address of this channel"
    ),
    r"The name of the host is not known: (?P<n>.*)": gettext_lazy("the name of the host is not known: %(n)s"),
    r"Could not connect: (?P<n>.*)": gettext_lazy("could not connect: %(n)s"),
    r"The answer broke off: (?P<n>.*)": gettext_lazy("the answer broke off: %(n)s"),
    r"(?P<n>\S+) is an address inside; the operator has to allow it \(OUTBOUND_NETWORKS\)": gettext_lazy(
        "%(n)s is an address inside; the operator has to allow it (OUTBOUND_NETWORKS)"
    ),
    r"\w+Error: (?:\[Errno \d+\] )?(?P<n>.*)": gettext_lazy("the mail server could not be used: %(n)s"),
}


def said(error: str) -> str:
    """The reason in the reader's language; what a far side wrote stays as it wrote it."""
    for pattern, words in _KNOWN.items():
        found = re.fullmatch(pattern, error, re.DOTALL)
        if found:
            return str(words) % found.groupdict()
    return _("they said: %(words)s") % {"words": error} if error[:3].isdecimal() else error
