"""The admin site of the operators: sign-in, permissions, content security policy and the first page."""

import logging
from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NoReturn

from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ImmediateHttpResponse
from csp.decorators import csp
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.urls import path
from django.utils.html import escape
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_protect
from redis import RedisError

from actors import services as actors
from events import audit
from events.publish import publish_rights_changed
from operators.dashboard import get_figures
from operators.language import choose_language, in_language_of_user
from operators.workspace_usage import download_workspace_usage, may_see_usage

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
    from django.contrib.admin.forms import AdminAuthenticationForm as AuthenticationForm
else:
    from unfold.forms import AuthenticationForm
    from unfold.sites import UnfoldAdminSite as AdminSite

logger = logging.getLogger(__name__)

MAX_RECORDED_LOOKUPS = 10

# The theme uses Alpine, which compiles attributes and so needs `unsafe-eval`, and has inline style sheets. So this policy applies
# to the operators' pages only (tests check both policies).
POLICY = {
    "default-src": ["'none'"],
    "script-src": ["'self'", "'unsafe-eval'"],
    "style-src": ["'self'", "'unsafe-inline'"],
    "img-src": ["'self'", "data:"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "frame-ancestors": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
}


class SignInForm(AuthenticationForm):
    """Django's form, which authenticates by allauth, so that attempts are limited as in the web app (SEC21)."""

    def clean(self) -> dict[str, Any]:
        email, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if email and password:
            adapter = get_adapter(self.request)
            try:
                self.user_cache = adapter.authenticate(self.request, email=email, password=password)
            except ImmediateHttpResponse as error:
                raise ValidationError(_("Too many attempts. Try again in a moment.")) from error
            except RedisError as error:  # sign-in is refused while attempts cannot be counted
                raise ValidationError(_("Signing in is not possible right now. Try again in a moment.")) from error
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data


def _record_refused_lookup(request: HttpRequest) -> None:
    """Write one line and one audit record about an operator who has tried to filter by a hidden column. The values are left out."""
    operator: Any = request.user
    lookups = sorted(request.GET)[:MAX_RECORDED_LOOKUPS]
    shortened = [lookup[:100] for lookup in lookups]
    logger.warning("The operator %r has tried to filter %s by %r.", operator.name, request.path, shortened)
    audit.record(operator, "admin.lookup_refused", path=request.path[:200], lookups=shortened)


def _mark_landmarks(response: HttpResponse) -> None:
    """Mark the main part of a page and name its other parts, for people who use a screen reader. The theme does neither."""
    sidebar, filters = escape(gettext("Sidebar")), escape(gettext("Filter"))
    content = response.content.decode()
    for tag, attribute in (
        ('<div id="main"', 'role="main"'),
        ('<nav id="nav-sidebar-inner"', f'aria-label="{sidebar}"'),
        ('<div id="nav-sidebar-apps"', f'data-simplebar-aria-label="{sidebar}"'),
        ('data-simplebar-direction="rtl"', f'data-simplebar-aria-label="{filters}"'),
    ):
        content = content.replace(tag, f"{tag} {attribute}", 1)
    response.content = content


def _with_landmarks(view: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = view(request, *args, **kwargs)
        if isinstance(response, SimpleTemplateResponse):
            response.add_post_render_callback(_mark_landmarks)
        return response

    return wrapper


class OperatorSite(AdminSite):
    """The admin site. A signed-in user who is no operator gets 404 at all of its URLs, as if there were no admin."""

    index_title = _("Overview")
    index_template = "operators/index.html"
    login_template = "operators/login.html"
    login_form = SignInForm

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        admin_view = csp(POLICY)(in_language_of_user(_with_landmarks(super().admin_view(view, cacheable))))

        def view_for_operators(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            self._refuse_non_operator(request)
            try:
                return admin_view(request, *args, **kwargs)
            except (DisallowedModelAdminLookup, DisallowedModelAdminToField) as error:
                # Only by guessed addresses: the pages offer no such filters.
                _record_refused_lookup(request)
                raise BadRequest("This page cannot be filtered like that.") from error

        return update_wrapper(view_for_operators, view)

    def get_urls(self) -> list[Any]:
        # Not `admin_view`: users who are not signed in yet choose a language, too.
        def language_view(request: HttpRequest) -> Any:
            self._refuse_non_operator(request)
            return csrf_protect(choose_language)(request)

        return [
            path("language/", language_view, name="language"),
            path("workspaces.csv", self.admin_view(self.workspace_usage), name="workspace_usage"),
            *super().get_urls(),
        ]

    def workspace_usage(self, request: HttpRequest) -> HttpResponse:
        """Return what each workspace used in the last 30 days, as CSV."""
        if not may_see_usage(request):
            raise PermissionDenied
        return download_workspace_usage(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        self._refuse_non_operator(request)
        view: Any = csp(POLICY)(in_language_of_user(super().login))
        response: HttpResponse = view(request, extra_context)
        return response

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Sign the user out, and end the user's viewings and the sockets of this session at once (SEC5)."""
        person: Any = request.user
        if request.user.is_authenticated and request.method == "POST":
            actors.end_viewings_of(person, person)
        response = super().logout(request, extra_context)
        if not request.user.is_authenticated:
            publish_rights_changed(person.pk)
        return response

    def _refuse_non_operator(self, request: HttpRequest) -> None:
        """Raise `Http404` for a signed-in user who is no operator. Anonymous users pass, because they may sign in."""
        if request.user.is_authenticated and not self.has_permission(request):
            raise Http404

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> NoReturn:
        """Raise `Http404`: passwords are changed in the web app, which also ends the other sessions."""
        raise Http404

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().index(request, {**(extra_context or {}), "figures": get_figures(request)})
