"""What is unusual about a request, in words: *look at this first*."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals.facts import Facts
from approvals.pages import values
from approvals.pages.parts import Flag
from approvals.rosters import Roster
from tenants import wording


def flags(facts: Facts, names: Roster) -> list[Flag]:
    """The unusual facts in words, the weightiest first."""
    found = [_edited(facts, names)] if facts.request.version > 1 else []
    return [*found, *marked(facts)]


def marked(facts: Facts) -> list[Flag]:
    """What was found unusual when it was asked, which keeps a request out of an answer to many."""
    return [flag for each in facts.request.flags if (flag := _flag(each))]


def _edited(facts: Facts, names: Roster) -> Flag:
    edited = dict.fromkeys(facts.version.edited_fields)
    changed = ", ".join(values.ordered(edited, values.values_of(facts.versions[0].arguments)))
    who = names.name(facts.version.edited_by_id)
    text = _("%(who)s made version %(n)s.") % {"who": who, "n": facts.request.version}
    return Flag(lead=_("A person edited: %(fields)s.") % {"fields": changed}, text=text)


def _flag(each: dict[str, Any]) -> Flag | None:
    if each["code"] == "hidden":
        lead = ngettext("holds a hidden character.", "holds %(n)s hidden characters.", each["count"]) % {
            "n": each["count"]
        }
        text = _("Marked below: %(names)s.") % {"names": wording.listed(each["names"])}
        return Flag(lead=lead, text=text, code=each["field"])
    if each["code"] == "lookalike":
        words = ", ".join(each["words"])
        return Flag(lead=_("mixes letters that look alike."), text=_("Look closely at: %(words)s.") % {"words": words},
                    code=each["field"])  # fmt: skip
    if each["code"] == "unusual":
        lead = _("is larger than %(n)s of the last %(of)s.") % {"n": each["larger_than"], "of": each["of"]}
        return Flag(lead=lead, text=_("Half of them were under %(m)s.") % {"m": each["median"]}, code=each["field"])
    if each["code"] == "dependents":
        lead = ngettext("Another call waits for this one.", "%(n)s other calls wait for this one.", each["count"]) % {
            "n": each["count"]
        }
        return Flag(lead=lead, text=_("The agent asked for them together, and they go one by one."))
    return None
