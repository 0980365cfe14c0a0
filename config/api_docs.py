"""The documentation of the API: Swagger UI with our schema, without files from other hosts."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe


@require_safe
@ensure_csrf_cookie
def api_docs(request: HttpRequest) -> HttpResponse:
    """Return the page. Like the schema it is public; an operation needs a token or a session."""
    return render(request, "api_docs.html")
