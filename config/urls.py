"""Every address, by the floor that answers it."""

from django.urls import URLPattern, URLResolver, include, path

from config.health import healthz, no_icon, readyz

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("favicon.ico", no_icon),
    path("accounts/", include("allauth.urls")),
]
