"""The tools of this app."""

from django.conf import settings

from system_tools.current_time import CurrentTime
from system_tools.public_services.guides import SearchGuides
from system_tools.public_services.rates import BuildBudget, GetExchangeRates
from system_tools.public_services.weather import FindPlace, GetForecast
from system_tools.web_fetch.tool import WebFetch
from system_tools.web_search.tool import WebSearch
from tools.registry import register

__all__ = [
    "BuildBudget",
    "CurrentTime",
    "FindPlace",
    "GetExchangeRates",
    "GetForecast",
    "SearchGuides",
    "WebFetch",
    "WebSearch",
]

if settings.WEB_SEARCH["provider"]:
    register(WebSearch)
if settings.PUBLIC_SERVICES["places"]:
    register(FindPlace)
if settings.PUBLIC_SERVICES["weather"]:
    register(GetForecast)
if settings.PUBLIC_SERVICES["exchange_rates"]:
    register(GetExchangeRates)
if settings.PUBLIC_SERVICES["travel_guide"] or settings.PUBLIC_SERVICES["encyclopedia"]:
    register(SearchGuides)
