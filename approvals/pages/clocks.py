"""By which clocks the time of a request counts, where it is not that of the wall: the zone stands beside the hours."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from approvals import working_hours
from approvals.facts import Facts
from tenants import wording


def counted(facts: Facts) -> Sequence[str]:
    """A sentence for the time it is open and one for its levels, where they count working hours."""
    need, calendar = facts.requirement, facts.ask.escalation.calendar
    told = []
    if need.working_time:
        named = [f"{name} ({zone})" for name, zone in working_hours.named(need.calendars or (None,))]
        told.append(
            _("The time it is open counts working hours: %(calendars)s.") % {"calendars": wording.listed(named)}
        )
    if calendar and facts.ask.escalation.levels:
        told.append(_("The levels count working hours by the clock of %(zone)s.") % {"zone": calendar.zone})
    return told
