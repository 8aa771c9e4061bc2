"""The addresses of asking, below `/t/{slug}/`."""

from django.urls import URLPattern, path

from approvals.views import (
    absence,
    answering,
    audit,
    bulk,
    calendars,
    channels,
    deliveries,
    editing,
    escalations,
    exporting,
    inbox,
    insights,
    notices,
    opening,
    requests,
    rotations,
    rules,
)

app_name = "approvals"


def _channels(sort: str, *, webhook: bool) -> list[URLPattern]:
    """The addresses of webhooks, or of chat channels."""
    kind, one = {"webhook": webhook}, f"settings/{sort}/<uuid:channel_id>/"
    return [
        path(f"settings/{sort}/", channels.every, kind, name=sort),
        path(f"{one}test/", channels.attempt, kind, name=f"{sort}_test"),
        path(f"{one}secret/", channels.secret, kind, name=f"{sort}_secret"),
        path(f"{one}switch/", channels.switch, kind, name=f"{sort}_switch"),
        path(f"{one}remove/", channels.remove, kind, name=f"{sort}_remove"),
    ]


urlpatterns = [
    path("inbox/", inbox.show, name="inbox"),
    path("inbox/bulk/", bulk.compare, name="bulk"),
    path("decided/", inbox.decided, name="decided"),
    path("open/<str:token>/", opening.follow, name="open"),
    path("requests/<uuid:request_id>/", requests.show, name="request"),
    path("requests/<uuid:request_id>/decide/", answering.decide, name="decide"),
    path("requests/<uuid:request_id>/edit/", editing.show, name="edit"),
    path("requests/<uuid:request_id>/viewed/", requests.viewed, name="viewed"),
    path("requests/<uuid:request_id>/comment/", requests.comment, name="comment"),
    path("settings/policies/", rules.every, name="policies"),
    path("settings/policies/new/", rules.new, name="policy_new"),
    path("settings/policies/<uuid:rule_id>/", rules.one, name="policy"),
    path("settings/policies/<uuid:rule_id>/restore/", rules.restore, name="policy_restore"),
    path("settings/policies/<uuid:rule_id>/archive/", rules.archive, name="policy_archive"),
    path("settings/escalation/", escalations.every, name="escalations"),
    path("settings/escalation/<uuid:policy_id>/", escalations.one, name="escalation"),
    path("settings/escalation/<uuid:policy_id>/archive/", escalations.archive, name="escalation_archive"),
    path("settings/calendars/", calendars.every, name="calendars"),
    path("settings/calendars/<uuid:calendar_id>/", calendars.one, name="calendar"),
    path("settings/calendars/<uuid:calendar_id>/archive/", calendars.archive, name="calendar_archive"),
    path("settings/rotations/", rotations.every, name="rotations"),
    path("settings/rotations/<uuid:rotation_id>/", rotations.one, name="rotation"),
    path("settings/rotations/<uuid:rotation_id>/edit/", rotations.edit, name="rotation_edit"),
    path("settings/rotations/<uuid:rotation_id>/archive/", rotations.archive, name="rotation_archive"),
    path("settings/rotations/<uuid:rotation_id>/override/", rotations.override, name="rotation_override"),
    path(
        "settings/rotations/<uuid:rotation_id>/override/<uuid:override_id>/end/",
        rotations.end,
        name="rotation_step_out",
    ),
    path("settings/absence/", absence.absence, name="absence"),
    path("settings/absence/<uuid:delegation_id>/end/", absence.withdraw, name="absence_end"),
    *_channels("webhooks", webhook=True),
    *_channels("channels", webhook=False),
    path("settings/channels/<uuid:channel_id>/hears/", channels.hear, name="channel_hears"),
    path("settings/channels/<uuid:channel_id>/people/", channels.bind, name="channel_bind"),
    path(
        "settings/channels/<uuid:channel_id>/people/<uuid:person_id>/release/", channels.release, name="channel_release"
    ),
    path("settings/deliveries/", deliveries.every, name="deliveries"),
    path("settings/deliveries/<uuid:delivery_id>/resend/", deliveries.resend, name="delivery_resend"),
    path("settings/notices/", notices.notices, name="notices"),
    path("settings/notices/test/", notices.try_mail, name="notices_test"),
    path("settings/notices/channels/", notices.add, name="notices_add"),
    path("settings/notices/<uuid:channel_id>/test/", notices.attempt, name="notices_channel_test"),
    path("settings/notices/<uuid:channel_id>/remove/", notices.remove, name="notices_channel_remove"),
    path("insights/", insights.show, name="insights"),
    path("audit/", audit.show, name="audit"),
    path("audit/export/", audit.export, name="audit_export"),
    path("exports/requests/", exporting.requests, name="requests_export"),
]
