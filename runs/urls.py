"""The addresses of the run pages, under `/t/<tenant>/`."""

from django.urls import path

from runs.views import exporting, listing, pages, permissions, switches

urlpatterns = [
    path("runs/", listing.runs, name="runs"),
    path("runs/<str:run_id>/", pages.run, name="run"),
    path("runs/<str:run_id>/cancel/", pages.cancel, name="run_cancel"),
    path("runs/<str:run_id>/pause/", pages.pause, name="run_pause"),
    path("runs/<str:run_id>/resume/", pages.resume, name="run_resume"),
    path("runs/<str:run_id>/retry/", pages.retry, name="run_retry"),
    path("runs/<str:run_id>/comment/", pages.comment, name="run_comment"),
    path("runs/<str:run_id>/steps/<int:seq>/result/", pages.result, name="step_result"),
    path("runs/<str:run_id>/proof/", exporting.proof, name="run_proof"),
    path("outcomes/", pages.outcomes, name="outcomes"),
    path("outcomes/<str:place>/", pages.outcome, name="outcome"),
    path("outcomes/<str:place>/settle/", pages.settle, name="outcome_settle"),
    path("exports/events/", exporting.events, name="events_export"),
    path("settings/agents/", switches.every, name="agents"),
    path("settings/agents/<str:name>/", switches.agent, name="agent"),
    path("settings/agents/<str:name>/people/", permissions.people, name="agent_people"),
    path("settings/agents/<str:name>/stop/", switches.stop, name="agent_stop"),
    path("settings/agents/<str:name>/start/", switches.start, name="agent_start"),
    path("settings/tools/<str:name>/", switches.tool, name="tool"),
]
