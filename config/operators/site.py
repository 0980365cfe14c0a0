"""The operators' site: who gets in, by which door; and its first page."""

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ImmediateHttpResponse
from csp.decorators import csp
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_protect
from redis import RedisError

from config.operators.dashboard import figures
from config.operators.language import choose_language, in_their_language
from events.publish import rights_changed

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
    from django.contrib.admin.forms import AdminAuthenticationForm as AuthenticationForm
else:
    from unfold.forms import AuthenticationForm
    from unfold.sites import UnfoldAdminSite as AdminSite


# The theme's pages are written for Alpine, which compiles the attributes it finds: it needs `unsafe-eval`, and the theme
# a style sheet of its own in the page. That is why this policy is for the operators' pages alone (tests hold both).
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


class SignIn(AuthenticationForm):
    """Django's form, through allauth's door: so that guessing is limited here as it is in the web app (D21)."""

    def clean(self) -> dict[str, Any]:
        email, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if email and password:
            adapter = get_adapter(self.request)
            try:
                self.user_cache = adapter.authenticate(self.request, email=email, password=password)
            except ImmediateHttpResponse as error:
                raise ValidationError(_("Too many attempts. Try again in a moment.")) from error
            except RedisError as error:  # who cannot be counted stays outside
                raise ValidationError(_("Signing in is not possible right now. Try again in a moment.")) from error
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data


class OperatorSite(AdminSite):
    """Whoever is signed in and no operator finds nothing at any of its addresses, as if there were no admin."""

    index_title = _("Overview")
    index_template = "operators/index.html"
    login_template = "operators/login.html"
    login_form = SignIn

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        guarded = csp(POLICY)(in_their_language(super().admin_view(view, cacheable)))

        def hidden(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            self._hide_from_others(request)
            return guarded(request, *args, **kwargs)

        return update_wrapper(hidden, view)

    def get_urls(self) -> list[Any]:
        return [path("language/", self._open_to_strangers(choose_language), name="language"), *super().get_urls()]

    def _open_to_strangers(self, view: Callable[..., Any]) -> Any:
        """A page for operators, and for who is not signed in yet."""

        def hidden(request: HttpRequest) -> Any:
            self._hide_from_others(request)
            return csrf_protect(view)(request)

        return hidden

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        self._hide_from_others(request)
        door: Any = csp(POLICY)(in_their_language(super().login))
        answer: HttpResponse = door(request, extra_context)
        return answer

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Sign out, and end what this session has open at once (D5)."""
        person: Any = request.user
        answer = super().logout(request, extra_context)
        if not request.user.is_authenticated:
            rights_changed(person.pk)
        return answer

    def _hide_from_others(self, request: HttpRequest) -> None:
        if request.user.is_authenticated and not self.has_permission(request):
            raise Http404

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Not here: the web app's page ends the other sessions, too."""
        raise Http404

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().index(request, {**(extra_context or {}), "figures": figures(request)})
