"""What must be right before a process may serve anybody."""

import base64
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

KNOWN_SECRET_KEY = "only-for-tests-and-tools-that-serve-nobody"
KNOWN_SECRET_KEYS = ["YXRlbGllci1hdGVsaWVyLWF0ZWxpZXItYXRlbGllci0="]


@register(deploy=True)
def secrets_are_our_own(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """The secrets in the source are known to everybody: good for tests and for tools, never for serving."""
    wrong: list[CheckMessage] = []
    if settings.SECRET_KEY == KNOWN_SECRET_KEY:
        wrong.append(Error("SECRET_KEY is not set.", hint="Any long random text that you keep.", id="atelier.E001"))
    if list(settings.SECRET_KEYS) == KNOWN_SECRET_KEYS:
        hint = "32 random bytes in URL-safe base64; newest first, separated by commas."
        wrong.append(Error("SECRET_KEYS is not set.", hint=hint, id="atelier.E002"))
    return wrong


@register(deploy=True)
def the_merge_service_can_know_us(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A service of the operator's is asked with a signature; without a secret anybody could be us."""
    if not settings.MERGE_SERVICE["url"]:
        return []
    try:
        secret = base64.b64decode(settings.MERGE_SERVICE["secret"].removeprefix("whsec_"), validate=True)
    except ValueError:
        secret = b""
    hint = "24 to 64 random bytes in base64, with whsec_ before it if you like; the service gets the same."
    return [] if len(secret) >= 24 else [Error("MERGE_SERVICE_SECRET is no secret.", hint=hint, id="atelier.E003")]


@register(deploy=True)
def the_proxy_is_named(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """We speak no TLS, so an https address means a proxy. Unless it is named, everybody seems to come from its address and
    shares its limits; and if everybody is, anybody says that they come from elsewhere."""
    if not settings.PUBLIC_URL.startswith("https://"):
        return []
    hint = "The addresses or networks of the proxy, separated by commas, e.g. 127.0.0.1 or 10.0.0.0/8; never *."
    if not settings.FORWARDED_ALLOW_IPS:
        return [Error("PUBLIC_URL is https, but FORWARDED_ALLOW_IPS is not set.", hint=hint, id="atelier.E004")]
    if "*" in settings.FORWARDED_ALLOW_IPS:
        return [Error("FORWARDED_ALLOW_IPS lets anybody say who they are.", hint=hint, id="atelier.E005")]
    return []


@register(deploy=True)
def sign_up_is_known(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A misspelt mode must not open the installation to everybody."""
    known = ("open", "invited", "closed")
    hint = f"One of {', '.join(known)}."
    return [] if settings.SIGN_UP in known else [Error("ATELIER_SIGN_UP is unknown.", hint=hint, id="atelier.E006")]


def refuse_to_serve_unsafely(*, web: bool = False) -> None:
    """Called where a process begins to serve; the checks of management commands are not run there. `web`: it is reached from
    outside.

    Raises `ImproperlyConfigured` with every reason.
    """
    wrong = [*secrets_are_our_own(None), *the_merge_service_can_know_us(None)]
    if web:
        wrong += [*the_proxy_is_named(None), *sign_up_is_known(None)]
    if wrong:
        raise ImproperlyConfigured(" ".join(f"{error.msg} {error.hint}" for error in wrong))
