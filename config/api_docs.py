"""The page on which the API can be read and tried: Swagger UI over our schema, all of it served from here."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe


@require_safe
@ensure_csrf_cookie
def api_docs(request: HttpRequest) -> HttpResponse:
    """Open to everybody, as the schema is; what is tried there needs a token, or the session of this browser."""
    return render(request, "api_docs.html")
