"""`current_time`: the time at a place."""

from datetime import datetime

from pydantic import Field

from common.clock import now
from tools.current_time.places import find_similar_zones, find_zone
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register


@register
class CurrentTime(Tool):
    """The current date and time at a place."""

    name = "current_time"
    effect = "read"
    is_trusted = True

    class Args(ToolArgs):
        timezone: str = Field(
            min_length=1,
            max_length=80,
            description="An IANA time zone such as Asia/Tokyo, or a city such as Tokyo, 東京 or New York.",
        )

    def run(self, ctx: ToolContext, args: Args) -> str:
        zone = find_zone(args.timezone)
        if zone is None:
            similar = find_similar_zones(args.timezone)
            advice = f" Did you mean {' or '.join(similar)}?" if similar else " Use an IANA name such as Europe/Paris."
            raise ToolError(f"There is no time zone or city {args.timezone!r} that I know.{advice}")
        return format_time(now().astimezone(zone), zone.key)


def format_time(moment: datetime, zone: str) -> str:
    """Return a time as ISO date and time, weekday, zone and offset."""
    offset = moment.isoformat(timespec="seconds")[-6:]
    return f"{moment:%Y-%m-%d %H:%M:%S} ({moment:%A}), {zone}, UTC{offset}"
