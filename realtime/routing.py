"""Which socket goes to which consumer."""

from typing import Any

from channels.routing import URLRouter

websocket_urlpatterns: list[Any] = []
application = URLRouter(websocket_urlpatterns)
