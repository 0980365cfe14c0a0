"""The web app, and the documentation of the API."""

from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe


@require_safe
@never_cache
@ensure_csrf_cookie
def web_app(request: HttpRequest) -> HttpResponse:
    """Return the page of the web app, one file for all of its paths, except that visitors without a session get the landing page at
    `/`; or 503 if it is not built.

    The page is marked if the request has no session, so that the web app need not ask who is signed in.
    """
    is_visitor = not request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    page = settings.WEB_APP / ("landing.html" if is_visitor and request.path == "/" else "index.html")
    try:
        content = _read(page, page.stat().st_mtime_ns)
    except FileNotFoundError:
        text = "The web app is not built yet: `make run` builds it."
        return HttpResponse(text, status=503, content_type="text/plain")
    if is_visitor:
        content = content.replace(b"<html ", b"<html data-anonymous ", 1)
    return HttpResponse(content)


@lru_cache(maxsize=2)
def _read(page: Path, changed_at: int) -> bytes:
    """Read the page. The cache has its time of change as a key, so that a new build is read."""
    return page.read_bytes()


@require_safe
@ensure_csrf_cookie
def api_docs(request: HttpRequest) -> HttpResponse:
    """Return Swagger UI with our schema, without files of other hosts. Like the schema it is public; an operation needs a token or
    a session."""
    return render(request, "api_docs.html")
