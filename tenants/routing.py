"""Who may open a websocket, and which consumer hears it: the bell, for pages of our own origin."""

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import OriginValidator
from django.conf import settings
from django.urls import path, re_path

from tenants.consumers import BellConsumer, NobodyHere

# OriginValidator compares scheme, host and port; the one for ALLOWED_HOSTS lets other ports pass.
bell = OriginValidator(
    AuthMiddlewareStack(
        URLRouter([path("t/<slug:tenant>/live/", BellConsumer.as_asgi()), re_path(r"", NobodyHere.as_asgi())])
    ),
    [settings.PUBLIC_URL],
)
