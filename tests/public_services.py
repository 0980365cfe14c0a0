"""A server that answers as the public services do that tools ask, in the shapes of their documentation. It needs no network."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

KYOTO = {
    "id": 1857910,
    "name": "Kyoto",
    "latitude": 35.02107,
    "longitude": 135.75385,
    "elevation": 50.0,
    "feature_code": "PPLA",
    "country_code": "JP",
    "admin1_id": 1857907,
    "timezone": "Asia/Tokyo",
    "population": 1463723,
    "country_id": 1861060,
    "country": "Japan",
    "admin1": "Kyoto",
}
FUKUOKA_KYOTO = {
    "id": 1857911,
    "name": "Kyōto",
    "latitude": 33.66,
    "longitude": 130.99,
    "country_code": "JP",
    "timezone": "Asia/Tokyo",
    "country": "Japan",
    "admin1": "Fukuoka",
}
YEN = {"JPY": 1.0, "TWD": 4.6275, "USD": 156.25, "EUR": 170.0}
"""What one unit of a currency is worth in yen."""
PAGE = {
    "id": 19000,
    "key": "Kyoto/Arashiyama",
    "title": "Kyoto/Arashiyama",
    "excerpt": '<span class="searchmatch">Arashiyama</span> is west of &quot;central&quot; Kyoto',
    "matched_title": None,
    "description": "district of Kyoto, Japan",
    "thumbnail": None,
}
RAIN = (3.4, 0.0, 0.2, 0.0, 0.0, 12.5, 0.9)
CHANCE = (80, 5, 10, 0, 20, 95, 55)


class PublicServices:
    """Answers as all services at once. `requests`: the paths and parameters that were asked for. `answers`: by path, a status and a
    body that are sent instead. While `answering` is not set, requests get no answer."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.answering = threading.Event()
        self.answering.set()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                params = dict(parse_qsl(parts.query, keep_blank_values=True))
                service.requests.append((parts.path, params))
                service.answering.wait(30)
                status, body = service.answers.get(parts.path) or service.answer(parts.path, params)
                self.send_response(status)
                self.send_header("Content-Type", "application/json; charset=utf-8")
                if status in (301, 302, 307, 308):
                    self.send_header("Location", body.decode())
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def addresses(self) -> dict[str, str]:
        """The value of `settings.PUBLIC_SERVICES` that names this server."""
        sites = {name: f"{self.url}/{name}/{{language}}" for name in ("travel_guide", "encyclopedia")}
        return dict.fromkeys(("places", "weather", "exchange_rates"), self.url) | sites

    @property
    def environment(self) -> dict[str, str]:
        """The same as environment variables, for another process."""
        return {f"{name.upper()}_URL": url for name, url in self.addresses.items()}

    def answer(self, path: str, params: dict[str, str]) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        if path == "/v1/search":
            is_known = params["name"].split(",")[0].strip().lower() in ("kyoto", "京都")
            found: Any = {"results": [KYOTO, FUKUOKA_KYOTO]} if is_known else {}
            return 200, _dump(found | {"generationtime_ms": 0.5})
        if path == "/v1/forecast":
            return 200, _dump(build_forecast(params))
        if path == "/v2/rates":
            return _build_rates(params)
        if path.endswith("/w/rest.php/v1/search/page"):
            return 200, _dump({"pages": [PAGE] if params["q"].lower() in ("kyoto", "arashiyama") else []})
        if "/wiki/" in path:
            return 200, b"The bamboo grove is quiet before eight."
        return 404, _dump({"status": 404, "message": "not found"})

    def close(self) -> None:
        self.answering.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def run_public_services() -> Iterator[PublicServices]:
    """Serve during the block."""
    services = PublicServices()
    try:
        yield services
    finally:
        services.close()


def build_forecast(params: dict[str, str]) -> dict[str, Any]:
    """Return a forecast: the day of the month decides about the rain."""
    start = date.fromisoformat(params.get("start_date", "2026-11-28"))
    last = date.fromisoformat(params["end_date"]) if "end_date" in params else start + timedelta(days=6)
    days = [start + timedelta(days=n) for n in range((last - start).days + 1)]
    return {
        "latitude": 35.0,
        "longitude": 135.75,
        "generationtime_ms": 0.1,
        "utc_offset_seconds": 32400,
        "timezone": "Asia/Tokyo",
        "timezone_abbreviation": "GMT+9",
        "elevation": 50.0,
        "daily_units": {"time": "iso8601", "weather_code": "wmo code", "precipitation_sum": "mm"},
        "daily": {
            "time": [day.isoformat() for day in days],
            "weather_code": [61 if RAIN[n % 7] > 1 else 2 for n in range(len(days))],
            "temperature_2m_min": [5.5 + n for n in range(len(days))],
            "temperature_2m_max": [12.25 + n for n in range(len(days))],
            "precipitation_sum": [RAIN[n % 7] for n in range(len(days))],
            "precipitation_probability_max": [CHANCE[n % 7] for n in range(len(days))],
            "wind_speed_10m_max": [14.4 for _ in days],
        },
    }


def _build_rates(params: dict[str, str]) -> tuple[int, bytes]:
    base, quotes = params["base"], params["quotes"].split(",")
    if unknown := [code for code in [base, *quotes] if code == "XQX"]:
        return 422, _dump({"status": 422, "message": f"invalid currency: {','.join(unknown)}"})
    day = params.get("date", "2026-11-27")
    rows = [
        {"date": day, "base": base, "quote": quote, "rate": round(YEN[base] / YEN[quote], 5)}
        for quote in quotes
        if quote in YEN
    ]
    return 200, _dump(rows)


def _dump(value: Any) -> bytes:
    return json.dumps(value).encode()
