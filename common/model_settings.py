"""The settings of a model that a workspace or a person has chosen: their columns and their checks."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.egress import (
    HostRefused,
    check_model_server,
    format_host_and_port,
    list_allowed_hosts,
    list_hosts_of_this_machine,
)
from common.errors import Conflict, Invalid
from common.local_models import SEARCH_INTERVAL_SECONDS, was_found_on_this_machine
from common.models import WithRevision
from common.operators import can_administer_installation
from common.providers import get_provider, list_provider_choices
from common.secrets import Secret, decrypt_for, encrypt_for


class ModelSettings(WithRevision):
    """The provider, its `api_base` and options, the encrypted key, and the default model.

    `common.providers` has the options of each provider; `assign_model_settings` checks them.
    """

    PURPOSE = "model-key"

    provider = models.CharField(_("provider"), max_length=24, choices=list_provider_choices)
    api_base = models.CharField(_("api base"), max_length=400, blank=True, default="")
    options = models.JSONField(_("options"), default=dict, blank=True)
    encrypted_key = models.TextField(_("encrypted key"), blank=True, default="")
    key_last4 = models.CharField(_("key last4"), max_length=4, blank=True, default="")
    default_model = models.CharField(_("default model"), max_length=200)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        abstract = True

    @property
    def owner_id(self) -> UUID:
        """The id of the workspace or person for which the key is encrypted."""
        raise NotImplementedError

    def decrypt_key(self) -> Secret:
        """Return the key, or an empty secret if none is stored. Raises `DecryptionFailed`."""
        if not self.encrypted_key:
            return Secret("")
        return decrypt_for(self.encrypted_key, owner=str(self.owner_id), purpose=self.PURPOSE, keep=True)


class ChatModelSettings(ModelSettings):
    """The settings of a model that answers. `context_size`: the most tokens of a request; null: as many as its server says."""

    context_size = models.PositiveIntegerField(_("context size"), null=True, blank=True)

    class Meta:
        abstract = True


def assign_model_settings(
    row: ModelSettings,
    actor: Any,
    *,
    provider: str,
    default_model: str,
    revision: int,
    api_base: str,
    options: Mapping[str, str] | None,
    key: Secret | None,
) -> bool:
    """Check the settings, set them on the row, and return whether requests are sent to another provider or host from now on.

    The caller has locked the row and saves it; a new row has the revision 0. `key` null keeps the stored key if provider and
    `api_base` are unchanged; otherwise the key is deleted, so that a person who cannot read it cannot send it to another server.

    Raises `Invalid` (also `host_refused`), and `Conflict` if the row has changed since `revision`.
    """
    options = options or {}
    check_model(actor, provider=provider, default_model=default_model, api_base=api_base, options=options)
    if row.revision != revision:
        raise Conflict("Somebody else has set the model meanwhile.", hints=["Look again, then set it."])
    chosen = get_provider(provider)
    is_other_server = (row.provider, row.api_base) != (provider, api_base)
    is_other_host = is_other_server or chosen.list_host_options(row.options) != chosen.list_host_options(options)
    if key is None and is_other_server:
        key = Secret("")
    has_key = bool(row.encrypted_key if key is None else key)
    if chosen.needs_key and not has_key:
        raise Invalid("This provider needs a key.", hints=["Paste the key you got from the provider."])
    row.provider, row.api_base, row.options = provider, api_base, dict(options)
    row.default_model, row.revision = default_model, revision + 1
    if key is not None:
        row.encrypted_key = encrypt_for(key, owner=str(row.owner_id), purpose=row.PURPOSE) if key else ""
        # Four characters reveal too much of a short key.
        row.key_last4 = key.reveal()[-4:] if len(key.reveal()) > 11 else ""
    return is_other_host


def check_model(actor: Any, *, provider: str, default_model: str, api_base: str, options: Mapping[str, str]) -> None:
    """Check the settings of a model, without resolving host names or calling a server (FAIR2).

    Raises `Invalid`, with the code `host_refused` for a URL that is not allowed.
    """
    if not default_model.strip() or len(default_model) > 200:
        raise Invalid("Name the model, with at most 200 characters.")
    check_server(actor, provider=provider, api_base=api_base, options=options)


def check_server(actor: Any, *, provider: str, api_base: str, options: Mapping[str, str]) -> None:
    """Check the provider, `api_base` and options of a model. Raises `Invalid` (`host_refused` for a URL that is not allowed)."""
    chosen = get_provider(provider)
    chosen.check_options(options)
    if chosen.has_api_base:
        if not api_base:
            raise Invalid(f"{chosen.label} needs its URL.", hints=["That of a server often ends in /v1."])
        target = check_model_server(api_base)
        host = format_host_and_port(target.url)
        if host in list_hosts_of_this_machine() and host not in list_allowed_hosts():
            if not can_administer_installation(actor):
                raise HostRefused(
                    "You may not use a model server of this machine.",
                    hints=["Only operators and the first person of the installation can choose one."],
                )
            if not was_found_on_this_machine(target.url.port):
                raise HostRefused(
                    f"No model server with a model was found at {host}.",
                    hints=[f"Start it and load a model. It is found within {SEARCH_INTERVAL_SECONDS:g} seconds."],
                )
    elif api_base:
        raise Invalid(f"{chosen.label} takes no URL of its own.")
