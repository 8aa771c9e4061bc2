"""The web process: pages and API over HTTP, the bell over websockets."""

import os
from importlib import import_module

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

pages = get_asgi_application()  # First: it makes the applications ready, which the rest imports from.
bell = import_module("tenants.routing").bell

application = ProtocolTypeRouter({"http": pages, "websocket": bell})
