"""The addresses of asking, below `/t/{slug}/`."""

from django.urls import path

from approvals.views import answering, bulk, editing, escalation, inbox, opening, policies, requests

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
    path("settings/policies/", policies.index, name="policies"),
    path("settings/policies/new/", policies.new, name="policy_new"),
    path("settings/policies/<uuid:rule_id>/", policies.edit, name="policy"),
    path("settings/policies/<uuid:rule_id>/archive/", policies.archive, name="policy_archive"),
    path("settings/escalation/", escalation.index, name="escalation"),
    path("settings/escalation/<uuid:policy_id>/", escalation.edit, name="escalation_policy"),
]
