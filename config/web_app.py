"""The page of the web app: one HTML file for all of its paths."""

from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe


@require_safe
@never_cache
@ensure_csrf_cookie
def web_app(request: HttpRequest) -> HttpResponse:
    """Return the page, or 503 if the web app is not built."""
    page = settings.WEB_APP / "index.html"
    try:
        return HttpResponse(_read(page, page.stat().st_mtime_ns))
    except FileNotFoundError:
        text = "The web app is not built yet: `make run` builds it."
        return HttpResponse(text, status=503, content_type="text/plain")


@lru_cache(maxsize=1)
def _read(page: Path, changed: int) -> bytes:
    return page.read_bytes()
