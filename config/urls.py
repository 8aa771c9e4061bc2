"""Every address, by the floor that answers it."""

from django.urls import URLPattern, URLResolver, include, path

from approvals.api import callbacks
from config.api import api
from config.frame import counts
from config.health import healthz, no_icon, readyz
from config.home import home
from config.metrics import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("favicon.ico", no_icon),
    path("api/v1/", api.urls),
    path("callbacks/<slug:tenant>/<str:channel>", callbacks.door),
    path("accounts/", include("allauth.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("t/<slug:slug>/counts/", counts),
    path("t/<slug:slug>/", include("runs.urls")),
    path("t/<slug:slug>/", include("approvals.urls")),
    path("t/<slug:slug>/", include("tenants.urls")),
]
