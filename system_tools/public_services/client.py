"""Ask a public service for JSON, and say in an error what the model can do."""

from collections.abc import Mapping
from typing import Literal, TypeVar

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from yarl import URL

from common.egress import HostRefused, list_hosts_without_path, read_capped
from common.fetching import FetchFailed, open_url
from common.shared_slots import SharedSlots
from common.text import remove_invisible, to_storable
from tools.interface import ToolConfig, ToolError

T = TypeVar("T")

ServiceName = Literal["places", "weather", "exchange_rates", "travel_guide", "encyclopedia"]
"""The keys of `settings.PUBLIC_SERVICES`."""
NAMES: dict[ServiceName, str] = {
    "places": "place search",
    "weather": "weather service",
    "exchange_rates": "exchange rate service",
    "travel_guide": "travel guide",
    "encyclopedia": "encyclopedia",
}
LANGUAGE_PLACEHOLDER = "{language}"

REQUEST_SECONDS = 10.0
"""The time limit of one request. A tool may set a shorter one."""
MAX_BYTES = 256 * 1024
"""Bytes of an answer that are read (RUN14)."""
REQUESTS_AT_ONCE = 32
"""Requests to public services that one process sends at the same time, for all its runs (FAIR5)."""
_requests = SharedSlots("requests to public services", lambda: REQUESTS_AT_ONCE)


class PublicServiceConfig(ToolConfig):
    """The settings of a tool that asks a public service."""

    retries: int = Field(default=1, ge=0, le=3)


class ServiceAnswer(BaseModel):
    """The part of an answer that is used. A field may be missing only if it has a default."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class RequestRefused(ToolError):
    """The service refused the request. `status`: its HTTP status, between 400 and 499."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text, is_final=True)
        self.status = status


def get_service_url(service: ServiceName, *, language: str = "en") -> str:
    """Return the base address of a service, without a slash at its end. Raises `ToolError` if there is none."""
    url: str = settings.PUBLIC_SERVICES[service]
    if not url:
        raise ToolError(f"No {NAMES[service]} is set up in this installation.", is_final=True)
    return url.replace(LANGUAGE_PLACEHOLDER, language).rstrip("/")


async def request_json(
    service: ServiceName,
    path: str,
    params: Mapping[str, str],
    answer: TypeAdapter[T],
    *,
    seconds: float,
    language: str = "en",
) -> T:
    """GET a path of a service, and return its answer as `answer` validates it. `seconds`: the time limit of the whole request,
    `REQUEST_SECONDS` at most.

    Raises `ToolError` with a text for the model, which contains neither the address nor a text of the service, and `RequestRefused`
    for an HTTP status from 400 to 499 except 429.
    """
    name, seconds = NAMES[service], min(seconds, REQUEST_SECONDS)
    url = str(URL(f"{get_service_url(service, language=language)}{path}").with_query(params))
    try:
        async with (
            _requests.reserve(),
            open_url(
                url,
                allow_private=list_hosts_without_path(),
                headers={"Accept": "application/json"},
                seconds=seconds,
            ) as response,
        ):
            status = response.status
            body = await read_capped(response, MAX_BYTES)  # a JSON value that is cut cannot be read
    except (FetchFailed, HostRefused) as error:
        if isinstance(error.__cause__, TimeoutError):
            raise ToolError(f"The {name} did not answer within {seconds:g} s.") from error
        raise ToolError(f"The {name} cannot be reached from this installation.") from error
    if status == 429:
        raise ToolError(f"The {name} asks to wait before the next request.")
    if 400 <= status < 500:
        raise RequestRefused(f"The {name} refused the request (HTTP {status}).", status)
    if status != 200:
        raise ToolError(f"The {name} is out of order (HTTP {status}).")
    try:
        return answer.validate_json(body)
    except (ValueError, ValidationError) as error:
        raise ToolError(f"The {name} gave no answer that can be read.", is_final=True) from error


def clean_line(text: str, limit: int) -> str:
    """Return a text of a service on one line, without invisible characters, of at most `limit` characters."""
    return " ".join(remove_invisible(to_storable(text)).split())[:limit]
