"""The addresses of this floor's pages, below `/t/{slug}/`."""

from django.urls import path

from tenants.views import groups, people

app_name = "tenants"
urlpatterns = [
    path("settings/people/", people.people, name="people"),
    path("settings/people/<uuid:member_id>/", people.member, name="member"),
    path("settings/groups/", groups.index, name="groups"),
    path("settings/groups/<uuid:group_id>/add/", groups.add, name="group_add"),
    path("settings/groups/<uuid:group_id>/remove/", groups.remove, name="group_remove"),
]
