"""`find_place` and `get_forecast`: a place by its name, and the weather at its coordinates, by Open-Meteo."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import zip_longest
from typing import Annotated

from pydantic import Field, TypeAdapter

from common.clock import now
from system_tools.public_services.client import PublicServiceConfig, ServiceAnswer, clean_line, request_json
from tools.fence import fence_lines
from tools.interface import Tool, ToolArgs, ToolContext, ToolError

MAX_PLACES = 5
DAYS_AHEAD = 15
"""The last day of a forecast, counted from today."""
DAYS_BACK = 90
DEFAULT_DAYS = 7
DRY_MM, DRY_PERCENT = 1.0, 30
"""A day is called dry if it has less rain and a smaller chance of it."""

WEATHER = {
    0: "clear sky",
    1: "mostly clear",
    2: "partly cloudy",
    3: "overcast",
    45: "fog",
    48: "freezing fog",
    51: "light drizzle",
    53: "drizzle",
    55: "heavy drizzle",
    56: "light freezing drizzle",
    57: "freezing drizzle",
    61: "light rain",
    63: "rain",
    65: "heavy rain",
    66: "light freezing rain",
    67: "freezing rain",
    71: "light snow",
    73: "snow",
    75: "heavy snow",
    77: "snow grains",
    80: "light showers",
    81: "showers",
    82: "violent showers",
    85: "light snow showers",
    86: "snow showers",
    95: "thunderstorm",
    96: "thunderstorm with hail",
    99: "thunderstorm with heavy hail",
}
"""WMO code of the weather → its name."""


_HAN = re.compile(r"[\u3400-\u9fff]")


class _Place(ServiceAnswer):
    name: str
    latitude: float = Field(ge=-90, le=90)
    longitude: float = Field(ge=-180, le=180)
    country: str = ""
    admin1: str = ""
    timezone: str = ""
    population: int | None = Field(default=None, ge=0, le=100_000_000_000)


class _Places(ServiceAnswer):
    results: list[_Place] = []


class FindPlace(Tool):
    """Find the coordinates of a place by its name. Gives up to five places of that name, the best known first."""

    name = "find_place"
    effect = "read"
    Config = PublicServiceConfig

    class Args(ToolArgs):
        name: str = Field(
            min_length=2, max_length=80, description="The name of a town, in any language, without its country."
        )
        country_code: str | None = Field(
            default=None, pattern=r"^[A-Za-z]{2}$", description="The ISO 3166 code of its country, such as JP."
        )

    async def run(self, ctx: ToolContext, args: Args) -> str:
        # The service compares a name with those of one language, besides English.
        language = "zh" if _HAN.search(args.name) else "en"
        params = {"name": args.name.strip(), "count": str(MAX_PLACES), "language": language, "format": "json"}
        if args.country_code:
            params["countryCode"] = args.country_code.upper()
        found = await request_json("places", "/v1/search", params, TypeAdapter(_Places), seconds=ctx.config.timeout_s)
        if not found.results:
            raise ToolError(
                "No place of this name was found. Check the spelling, leave out the country, or name a larger place near it.",
                is_final=True,
            )
        lines = [_describe_place(number, place) for number, place in enumerate(found.results[:MAX_PLACES], 1)]
        lines.append("Source: Open-Meteo geocoding (https://open-meteo.com), data of GeoNames, CC BY 4.0.")
        return "\n".join(fence_lines("places", lines, authors="the place search", citation="its source"))


def _describe_place(number: int, place: _Place) -> str:
    names = [clean_line(name, 80) for name in (place.name, place.admin1, place.country)]
    facts = [f"latitude {place.latitude:.4f}, longitude {place.longitude:.4f}"]
    if place.timezone:
        facts.append(f"time zone {clean_line(place.timezone, 40)}")
    if place.population:
        facts.append(f"population {place.population:,}")
    return f"{number}. {', '.join(dict.fromkeys(filter(None, names)))}: {'; '.join(facts)}"


_Measures = list[Annotated[float, Field(ge=-200, le=10_000)] | None]


class _Daily(ServiceAnswer):
    time: list[date] = Field(min_length=1, max_length=DAYS_BACK + DAYS_AHEAD + 2)
    weather_code: list[int | None] = []
    temperature_2m_min: _Measures = []
    temperature_2m_max: _Measures = []
    precipitation_sum: _Measures = []
    precipitation_probability_max: _Measures = []
    wind_speed_10m_max: _Measures = []


class _Forecast(ServiceAnswer):
    daily: _Daily


class GetForecast(Tool):
    """Get the weather of each day at coordinates (find_place gives them): temperatures, rain and wind. It reaches 15 days ahead."""

    name = "get_forecast"
    effect = "read"
    Config = PublicServiceConfig

    class Args(ToolArgs):
        latitude: float = Field(ge=-90, le=90, description="In degrees; the south is negative.")
        longitude: float = Field(ge=-180, le=180, description="In degrees; the west is negative.")
        start_date: date | None = Field(default=None, description="The first day, as YYYY-MM-DD. Without it: today.")
        end_date: date | None = Field(
            default=None, description="The last day, as YYYY-MM-DD. Without it: six days after the first."
        )

    async def run(self, ctx: ToolContext, args: Args) -> str:
        params = {
            "latitude": f"{args.latitude:.4f}",
            "longitude": f"{args.longitude:.4f}",
            "daily": ",".join(name for name in _Daily.model_fields if name != "time"),
            "timezone": "auto",
            "temperature_unit": "celsius",
            "precipitation_unit": "mm",
            "wind_speed_unit": "kmh",
        }
        note = ""
        if args.start_date is None and args.end_date is None:
            params["forecast_days"] = str(DEFAULT_DAYS)  # from today, as the day is at the place
        else:
            start, end, note = _limit_days(args.start_date or now().date(), args.end_date)
            params |= {"start_date": start.isoformat(), "end_date": end.isoformat()}
        forecast = await request_json(
            "weather", "/v1/forecast", params, TypeAdapter(_Forecast), seconds=ctx.config.timeout_s
        )
        return "\n".join(filter(None, [*_describe_days(forecast.daily), note]))


def _limit_days(start: date, end: date | None) -> tuple[date, date, str]:
    """Return the first and the last day of a request, and a sentence about the days that are left out, if there are any. Raises
    `ToolError` if no day is left."""
    today = now().date()
    earliest, latest = today - timedelta(days=DAYS_BACK), today + timedelta(days=DAYS_AHEAD)
    end = end or start + timedelta(days=DEFAULT_DAYS - 1)
    if end < start:
        raise ToolError("end_date is before start_date.", is_final=True)
    if start < earliest or start > latest:
        raise ToolError(
            f"Today is {today}. There is weather for the days from {earliest} to {latest} only: what comes later is not"
            " forecast yet, and what was earlier is not kept.",
            is_final=True,
        )
    note = f"There is no forecast yet for the days after {latest}." if end > latest else ""
    return start, min(end, latest), note


def _describe_days(daily: _Daily) -> list[str]:
    columns: list[Sequence[float | None]] = [
        daily.weather_code,
        daily.temperature_2m_min,
        daily.temperature_2m_max,
        daily.precipitation_sum,
        daily.precipitation_probability_max,
        daily.wind_speed_10m_max,
    ]
    lines = [
        f"Weather of each day, local to the place, read on {now():%Y-%m-%d %H:%M} UTC.",
        "day | weather | lowest °C | highest °C | rain mm | chance of rain % | strongest wind km/h",
    ]
    dry: list[str] = []
    for day, values in zip(daily.time, zip_longest(*columns), strict=False):
        code, lowest, highest, rain, chance, wind = values
        name = "unknown" if code is None else WEATHER.get(int(code), "unknown")
        numbers = [_format(lowest, 1), _format(highest, 1), _format(rain, 1), _format(chance, 0), _format(wind, 0)]
        lines.append(" | ".join([f"{day} {day:%a}", name, *numbers]))
        # The chance is not known of days that are over.
        if rain is not None and rain < DRY_MM and (chance is None or chance < DRY_PERCENT):
            dry.append(day.isoformat())
    return [
        *lines,
        f"Dry days (less than {DRY_MM:g} mm, chance under {DRY_PERCENT} %): {', '.join(dry) or 'none'}.",
        "Source: Open-Meteo (https://open-meteo.com), CC BY 4.0.",
    ]


def _format(value: float | None, digits: int) -> str:
    return "?" if value is None else f"{value:.{digits}f}"
