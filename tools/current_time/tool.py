"""`current_time`: the time at a place."""

from datetime import datetime

from pydantic import Field

from common.clock import now
from tools.current_time.places import closest, zone_of
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
        zone = zone_of(args.timezone)
        if zone is None:
            near = closest(args.timezone)
            hint = f" Did you mean {' or '.join(near)}?" if near else " Use an IANA name such as Europe/Paris."
            raise ToolError(f"There is no time zone or city {args.timezone!r} that I know.{hint}")
        return describe(now().astimezone(zone), zone.key)


def describe(moment: datetime, zone: str) -> str:
    """A moment as a model reads it best: ISO, weekday, zone and offset."""
    offset = moment.isoformat(timespec="seconds")[-6:]
    return f"{moment:%Y-%m-%d %H:%M:%S} ({moment:%A}), {zone}, UTC{offset}"
