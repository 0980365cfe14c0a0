"""The throttle: token buckets in Redis. A request takes from all of its buckets in one round trip.

While Redis is down, each process counts the same buckets in its memory, so requests are served with the same limits for each
process. Signing in is an exception: allauth counts it in Django's cache, and it is refused while Redis is down
(`actors.middleware`).
"""

import math
import time
from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest
from redis import Redis
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from actors.callers import remember_caller
from actors.models import Viewing
from common.bounded import BoundedMap
from common.errors import LimitReached
from common.redis_client import redis_client

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which names this module's throttle in its defaults

Bucket = tuple[str, object]
"""A name in `settings.RATES`, and the person, IP address or workspace that the bucket belongs to."""

SCRIPT = b"""
local now = redis.call('TIME')
now = now[1] * 1000 + now[2] / 1000
local full, wait, which = {}, 0, 0
for i, key in ipairs(KEYS) do
  local pace, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  full[i] = math.max(tonumber(redis.call('GET', key) or 0), now) + pace
  local over = math.ceil(full[i] - now - pace * burst)
  if over > wait then wait, which = over, i - 1 end
end
if wait == 0 then
  for i, key in ipairs(KEYS) do
    redis.call('SET', key, string.format('%.3f', full[i]), 'PX', math.ceil(full[i] - now))
  end
end
return {wait, which}
"""
"""The generic cell rate algorithm: a bucket is the time (ms) when it will be full again. Taking a token adds `pace` to it.

The script takes a token from all buckets or from none. It returns how long to wait (ms), and for which bucket (its index)."""

MAX_LOCAL_BUCKETS = 10_000
"""Buckets that a process keeps in memory."""


class LocalBuckets:
    """Token buckets in the memory of this process, with the algorithm of `SCRIPT`."""

    def __init__(self) -> None:
        self._full: BoundedMap[str, float] = BoundedMap(MAX_LOCAL_BUCKETS)

    def take(self, keys: Sequence[str], paces_and_bursts: Sequence[float]) -> tuple[int, int]:
        """Take a token from all buckets or from none, and return what `SCRIPT` returns."""
        now = time.monotonic() * 1000
        paces, bursts = paces_and_bursts[::2], paces_and_bursts[1::2]
        with self._full.lock:
            full = [max(self._full.get(key, 0.0), now) + pace for key, pace in zip(keys, paces, strict=True)]
            over = [math.ceil(f - now - p * b) for f, p, b in zip(full, paces, bursts, strict=True)]
            if max(over) <= 0:
                for key, moment in zip(keys, full, strict=True):
                    self._full.set(key, moment)
        return max(0, *over), over.index(max(over))


_local_buckets = LocalBuckets()

_refused_until: BoundedMap[str, float] = BoundedMap(MAX_LOCAL_BUCKETS)
"""Buckets that have refused a request, and until when (seconds of the monotonic clock) they refuse every request."""


def throttle(*buckets: Bucket, local_only: bool = False) -> None:
    """Take a token from each bucket, or from none. Raises `LimitReached`, whose `data` has the `seconds` to wait.

    A bucket with a rate of 0 has no limit. `local_only`: count in this process's memory, without a round trip, for callers that
    must not wait.
    """
    limited = [(name, owner, *settings.RATES[name]) for name, owner in buckets if settings.RATES[name][0]]
    if not limited:
        return
    keys = [f"rate:{name}:{owner}" for name, owner, _, _ in limited]
    paces_and_bursts = [number for _, _, rate, burst in limited for number in (1000 / rate, burst)]

    def run_script(client: Redis) -> Any:
        return client.register_script(SCRIPT)(keys, paces_and_bursts)

    shared = None if local_only else redis_client.call(run_script, None)
    wait, which = shared or _local_buckets.take(keys, paces_and_bursts)
    if wait:
        _refused_until.set(keys[which], time.monotonic() + wait / 1000)
        raise _build_error(limited[which][0], wait)


def find_refusal(bucket: Bucket) -> LimitReached | None:
    """Return the error for a request that takes from this bucket, if the bucket is known to be still empty.

    Only refusals in this process are known. There is no round trip to Redis.
    """
    name, owner = bucket
    wait = _refused_until.get(f"rate:{name}:{owner}", 0.0) - time.monotonic()
    return _build_error(name, math.ceil(wait * 1000)) if wait > 0 else None


def _build_error(name: str, wait: int) -> LimitReached:
    seconds = math.ceil(wait / 1000)
    return LimitReached(
        "Too many requests at once.",
        hints=[f"Try again in {seconds} s."],
        data={"limit": name, "seconds": seconds},
    )


def get_anonymous_bucket(request: HttpRequest | Request) -> Bucket:
    """Return the bucket of a request without a signed-in person."""
    return get_ip_address_bucket(request.META.get("REMOTE_ADDR", ""))


def get_ip_address_bucket(text: str) -> Bucket:
    """Return the bucket of anonymous requests from this IP address. IPv6 counts by /64 network, because a household has one."""
    try:
        ip = ip_address(text)
    except ValueError:
        return ("anonymous", text)
    if isinstance(ip, IPv6Address):
        return ("anonymous", ip_network((ip, 64), strict=False).network_address)
    return ("anonymous", ip)


class Throttle(BaseThrottle):
    """Take a token from the bucket of the person, however they signed in (SEC7), or of the IP address of an anonymous request.

    A view may name further buckets of the person in `person_buckets`, or return any buckets from a method `buckets(request)`.
    Requests that the view refuses count as well. A view whose bucket has few tokens calls `throttle` after it has checked the body.
    """

    def allow_request(self, request: Request, view: "APIView") -> bool:
        if request.user:
            # An operator who views as another person takes from the operator's own buckets.
            owner: Any = request.auth.operator_id if isinstance(request.auth, Viewing) else request.user.pk
            remember_caller(request, owner)
            names = ("requests", *getattr(view, "person_buckets", ()))
            more = view.buckets(request) if hasattr(view, "buckets") else ()
            throttle(*((name, owner) for name in names), *more)
        else:
            throttle(get_anonymous_bucket(request))
        return True
