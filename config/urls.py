"""URL configuration. `/healthz` and `/readyz` are answered before Django (server/health.py)."""

from django.contrib import admin
from django.urls import include, path, re_path

from config.views import api_docs, web_app

API = (
    "actors",
    "workspaces",
    "llm",
    "tools",
    "chats",
    "files",
    "agents",
    "agent_files",
    "approvals",
    "embeddings",
    "context",
    "usage",
    "memory",
    "runs",
    "boards",
    "waking",
    "schedules",
    "suggestions",
    "publishing",
    "notifications",
    "inspector",
    "webhooks",
    "realtime",
)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("_allauth/", include("actors.api.account_urls")),
    path("api/docs/", api_docs, name="api-docs"),
    *[path("api/v1/", include(f"{name}.api.urls")) for name in API],
    # All other paths are routes of the web app. A missing file or endpoint must be a 404. There are no metrics: with 200 for
    # `/metrics`, a scraper would report that all is well.
    re_path(r"^(?!api/|_allauth/|admin/|static/|ws/|metrics/?$).*$", web_app),
]

handler400 = "config.error_pages.bad_request"
handler403 = "config.error_pages.forbidden"
handler404 = "config.error_pages.not_found"
handler500 = "config.error_pages.internal_error"
