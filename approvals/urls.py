"""The addresses of asking, below `/t/{slug}/`."""

from django.urls import path

from approvals.views import (
    absence,
    answering,
    audit,
    bulk,
    editing,
    escalations,
    exporting,
    inbox,
    opening,
    requests,
    rules,
)

app_name = "approvals"
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
    path("settings/absence/", absence.absence, name="absence"),
    path("settings/absence/<uuid:delegation_id>/end/", absence.withdraw, name="absence_end"),
    path("audit/", audit.show, name="audit"),
    path("audit/export/", audit.export, name="audit_export"),
    path("exports/requests/", exporting.requests, name="requests_export"),
]
