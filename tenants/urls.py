"""The addresses of settings that belong to this floor, under `/t/<tenant>/`."""

from django.urls import path
from django.views.decorators.http import require_safe

from tenants import pages
from tenants.views import groups, keys, organisation, people

app_name = "tenants"
urlpatterns = [
    path("settings/", require_safe(pages.home("settings")), name="settings"),
    path("settings/tools/", require_safe(pages.home("tools")), name="settings_tools"),
    path("settings/organisation/", organisation.organisation, name="organisation"),
    path("settings/keys/", keys.every, name="keys"),
    path("settings/keys/<uuid:key_id>/revoke/", keys.revoke, name="key_revoke"),
    path("settings/people/", people.every, name="people"),
    path("settings/people/invite/", people.invite, name="invite"),
    path("settings/people/<uuid:member_id>/", people.change, name="member_change"),
    path("settings/people/<uuid:member_id>/invite/", people.invite_again, name="member_invite"),
    path("settings/groups/", groups.every, name="groups"),
    path("settings/groups/<uuid:group_id>/add/", groups.add, name="group_add"),
    path("settings/groups/<uuid:group_id>/remove/", groups.remove, name="group_remove"),
    path("settings/groups/<uuid:group_id>/rename/", groups.rename, name="group_rename"),
    path("settings/groups/<uuid:group_id>/delete/", groups.delete, name="group_delete"),
]
