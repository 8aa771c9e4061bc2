"""Every address, by the floor that answers it."""

from django.urls import URLPattern, URLResolver, include, path

from config.health import healthz, readyz

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("accounts/", include("allauth.urls")),
]
