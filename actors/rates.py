"""How often somebody may ask (SEC21): token buckets in Redis, all that one request takes from in a single round trip.

While Redis is away each process keeps the same buckets for itself: open, but capped. Signing in is not counted here:
allauth counts it in Django's cache, and is closed while that is away (`actors.doors`).
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
from common.bounded import BoundedMap
from common.errors import LimitReached
from common.redis_client import redis_client

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which names this module's throttle in its defaults

Bucket = tuple[str, object]
"""A name in `settings.RATES`, and whose it is."""

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
"""The generic cell rate algorithm: a bucket is the moment (ms) at which it will be full again. One taken moves it by
`pace`; the call takes from all buckets or from none, and says how long (ms) to wait, and for which."""

MOST = 10_000
"""Buckets that a process keeps for itself."""


class OwnBuckets:
    """The same buckets in this process alone."""

    def __init__(self) -> None:
        self._full: BoundedMap[str, float] = BoundedMap(MOST)

    def take(self, keys: Sequence[str], measures: Sequence[float]) -> tuple[int, int]:
        """Like `SCRIPT`."""
        now = time.monotonic() * 1000
        paces, bursts = measures[::2], measures[1::2]
        with self._full.lock:
            full = [max(self._full.get(key, 0.0), now) + pace for key, pace in zip(keys, paces, strict=True)]
            over = [math.ceil(f - now - p * b) for f, p, b in zip(full, paces, bursts, strict=True)]
            if max(over) <= 0:
                for key, moment in zip(keys, full, strict=True):
                    self._full.set(key, moment)
        return max(0, *over), over.index(max(over))


_own = OwnBuckets()

_refused_until: BoundedMap[str, float] = BoundedMap(MOST)
"""Buckets that have refused, and until when (seconds of the monotonic clock) they refuse everybody who asks."""


def demand(*buckets: Bucket, only_here: bool = False) -> None:
    """Take one from each bucket, or from none. Raises `LimitReached`, whose data says how many `seconds` to wait.

    `only_here`: from this process's own buckets, without a round trip; for callers that must not wait.
    """
    limited = [(name, whose, *settings.RATES[name]) for name, whose in buckets if settings.RATES[name][0]]
    if not limited:
        return
    keys = [f"rate:{name}:{whose}" for name, whose, _, _ in limited]
    measures = [number for _, _, rate, burst in limited for number in (1000 / rate, burst)]

    def ask(client: Redis) -> Any:
        return client.register_script(SCRIPT)(keys, measures)

    shared = None if only_here else redis_client.call(ask, None)
    wait, which = shared or _own.take(keys, measures)
    if wait:
        _refused_until.set(keys[which], time.monotonic() + wait / 1000)
        raise _reached(limited[which][0], wait)


def find_refusal(bucket: Bucket) -> LimitReached | None:
    """Return the refusal of a request that takes from this bucket, if the bucket has refused here and cannot have filled up
    since: what has refused names the time until which it does. Asks nobody."""
    name, whose = bucket
    wait = _refused_until.get(f"rate:{name}:{whose}", 0.0) - time.monotonic()
    return _reached(name, math.ceil(wait * 1000)) if wait > 0 else None


def _reached(name: str, wait: int) -> LimitReached:
    seconds = math.ceil(wait / 1000)
    return LimitReached(
        "Too many requests at once.",
        hints=[f"Try again in {seconds} s."],
        data={"limit": name, "seconds": seconds},
    )


def stranger(request: HttpRequest | Request) -> Bucket:
    """The bucket of whoever is not signed in: their address; of IPv6 the network, since one household has all of it."""
    return stranger_at(request.META.get("REMOTE_ADDR", ""))


def stranger_at(said: str) -> Bucket:
    """Return the bucket of people from this address who are not signed in."""
    try:
        address = ip_address(said)
    except ValueError:
        return ("strangers", said)
    if isinstance(address, IPv6Address):
        return ("strangers", ip_network((address, 64), strict=False).network_address)
    return ("strangers", address)


class Throttle(BaseThrottle):
    """Every operation takes from its person's bucket, whatever they are signed in by (SEC7); strangers' from their address'.

    A view may name more buckets of that person in `person_buckets`, or return any buckets from a method `buckets(request)`.
    Refused requests count, too: the buckets are asked before anything is looked at.
    """

    def allow_request(self, request: Request, view: "APIView") -> bool:
        if request.user:
            remember_caller(request)
            names = ("requests", *getattr(view, "person_buckets", ()))
            more = view.buckets(request) if hasattr(view, "buckets") else ()
            demand(*((name, request.user.pk) for name in names), *more)
        else:
            demand(stranger(request))
        return True
