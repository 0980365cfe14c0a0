"""System checks of the settings for production."""

import base64
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from common.egress import HostRefused, check_url, is_host_and_port
from system_tools.public_services.client import LANGUAGE_PLACEHOLDER
from system_tools.web_search.providers import PROVIDERS

KNOWN_SECRET_KEY = "only-for-tests-and-tools-that-serve-nobody"
KNOWN_SECRET_KEYS = ["YXRlbGllci1hdGVsaWVyLWF0ZWxpZXItYXRlbGllci0="]


@register(deploy=True)
def check_secrets(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse the secrets of the source code, which are public and only for tests and tools."""
    errors: list[CheckMessage] = []
    if settings.SECRET_KEY == KNOWN_SECRET_KEY:
        errors.append(
            Error("SECRET_KEY is not set.", hint="A long random text that you keep secret.", id="atelier.E001")
        )
    if list(settings.SECRET_KEYS) == KNOWN_SECRET_KEYS:
        hint = "32 random bytes in URL-safe base64; newest first, separated by commas."
        errors.append(Error("SECRET_KEYS is not set.", hint=hint, id="atelier.E002"))
    return errors


@register(deploy=True)
def check_merge_service_secret(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse a merge service without a valid secret, since requests to it are signed."""
    if not settings.MERGE_SERVICE["url"]:
        return []
    try:
        secret = base64.b64decode(settings.MERGE_SERVICE["secret"].removeprefix("whsec_"), validate=True)
    except ValueError:
        secret = b""
    if len(secret) >= 24:
        return []
    hint = "At least 24 random bytes in base64, with whsec_ before it if you like; the service gets the same."
    return [Error("MERGE_SERVICE_SECRET is not a valid secret.", hint=hint, id="atelier.E003")]


@register(deploy=True)
def check_web_search(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Require a known search service, with what it needs."""
    service = settings.WEB_SEARCH
    provider = service["provider"]
    if not provider:
        return []
    if provider not in PROVIDERS:
        hint = f"One of {', '.join(PROVIDERS)}."
        return [Error("WEB_SEARCH_PROVIDER names no search service.", hint=hint, id="atelier.E008")]
    required = "key" if PROVIDERS[provider] else "url"  # a service without an address of its own needs a URL
    if not service[required]:
        return [Error(f"WEB_SEARCH_{required.upper()} is not set, which {provider} needs.", id="atelier.E009")]
    try:
        if service["url"]:
            check_url(service["url"], any_host=True)
    except HostRefused as error:
        return [Error(f"WEB_SEARCH_URL cannot be used. {error.message}", id="atelier.E010")]
    return []


@register(deploy=True)
def check_public_services(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse an address of a public service that cannot be a URL."""
    errors: list[CheckMessage] = []
    for name, url in settings.PUBLIC_SERVICES.items():
        try:
            if url:
                check_url(url.replace(LANGUAGE_PLACEHOLDER, "en"), any_host=True)
        except HostRefused as error:
            errors.append(Error(f"{name.upper()}_URL cannot be used. {error.message}", id="atelier.E011"))
    return errors


@register(deploy=True)
def check_trusted_proxies(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Require the IP addresses of the proxy if `PUBLIC_URL` is https, since this server speaks no TLS.

    Without them all requests seem to come from the proxy and share its limits. With `*`, any client can forge its IP address.
    """
    if not settings.PUBLIC_URL.startswith("https://"):
        return []
    hint = "The IP addresses or networks of the proxy, separated by commas, e.g. 127.0.0.1 or 10.0.0.0/8; never *."
    if not settings.FORWARDED_ALLOW_IPS:
        return [Error("PUBLIC_URL is https, but FORWARDED_ALLOW_IPS is not set.", hint=hint, id="atelier.E004")]
    if "*" in settings.FORWARDED_ALLOW_IPS:
        return [Error("FORWARDED_ALLOW_IPS lets any client forge its IP address.", hint=hint, id="atelier.E005")]
    return []


@register(deploy=True)
def check_sign_up_mode(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse an unknown mode of sign-up, which could be misspelt."""
    known = ("open", "invited", "closed")
    if settings.SIGN_UP in known:
        return []
    return [Error("ATELIER_SIGN_UP is unknown.", hint=f"One of {', '.join(known)}.", id="atelier.E006")]


@register(deploy=True)
def check_lease(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse a lease that ends after one late heartbeat, since the run would be reclaimed from a worker that is alive."""
    if settings.RUN_LEASE > 2 * settings.RUN_HEARTBEAT:
        return []
    hint = f"RUN_HEARTBEAT is {settings.RUN_HEARTBEAT:g} s: more than {2 * settings.RUN_HEARTBEAT:g} s."
    return [Error("RUN_LEASE is too short.", hint=hint, id="atelier.E007")]


@register(deploy=True)
def check_model_limits(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse limits of requests to models that no request could meet."""
    names = ("LLM_FIRST_TOKEN_TIMEOUT", "LLM_IDLE_TIMEOUT", "LLM_TOTAL_TIMEOUT", "LLM_CONTEXT_SIZE", "LLM_MAX_CONTEXT")
    values = {name: getattr(settings, name) for name in names}
    errors = [f"{name} must be more than 0." for name, value in values.items() if value is not None and value <= 0]
    first, total = values["LLM_FIRST_TOKEN_TIMEOUT"], values["LLM_TOTAL_TIMEOUT"]
    if first and total and first > total:
        errors.append("LLM_FIRST_TOKEN_TIMEOUT must not be more than LLM_TOTAL_TIMEOUT.")
    if any(seconds < 0 for seconds in settings.LLM_RESTART_DELAYS):
        errors.append("LLM_RESTART_DELAYS must not be less than 0.")
    return [Error(text, hint="Seconds, or tokens (docs/operations.md).", id="atelier.E008") for text in errors]


@register(deploy=True)
def check_private_hosts(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse private hosts that are not written as `host:port` or `host:port/path`: they would never match an address."""
    hint = "Write host:port or host:port/path, without http://, for example gpu.lan:11434."
    return [
        Error(f"ATELIER_ALLOW_PRIVATE_HOSTS has {name!r}.", hint=hint, id="atelier.E009")
        for name in sorted(settings.ALLOW_PRIVATE_HOSTS)
        if not is_host_and_port(name.partition("/")[0])
    ]


def refuse_to_serve_unsafely(*, web: bool = False) -> None:
    """Check the secrets, the web search, the lease, and the limits and hosts of models. With `web`, also check what concerns
    processes that clients reach. Raise `ImproperlyConfigured` with all errors. Web processes and workers call this when they start,
    because Django runs checks in management commands only."""
    errors = [
        *check_secrets(None),
        *check_merge_service_secret(None),
        *check_web_search(None),
        *check_public_services(None),
        *check_lease(None),
        *check_model_limits(None),
        *check_private_hosts(None),
    ]
    if web:
        errors += [*check_trusted_proxies(None), *check_sign_up_mode(None)]
    if errors:
        raise ImproperlyConfigured(" ".join(f"{error.msg} {error.hint or ''}".strip() for error in errors))
