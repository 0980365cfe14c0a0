"""Which addresses belong to the public internet. Pure: no look-ups, no connections (D12)."""

import ipaddress
import re
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What the standard library of some Python version still calls global, though nobody on the internet is there.
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        "100.64.0.0/10",  # shared by carriers
        "192.0.0.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "198.18.0.0/15",  # benchmarks
        "64:ff9b:1::/48",  # NAT64 of one's own network
        "100::/64",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
]
# A host whose last label is a number is an IPv4 address to some parser or other: 127.1, 0x7f.1, 2130706433, 0177.0.0.1.
_NUMERIC_END = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)


class NotAnAddress(ValueError):
    """It looks like an address, but not like one that everybody reads the same way."""


def literal_address(host: str) -> Address | None:
    """The address that `host` spells, or None when it is a name. Raises `NotAnAddress` for the forms in between."""
    if ":" not in host and not _NUMERIC_END.search(host):
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError as error:
        raise NotAnAddress(host) from error


def is_public(address: Address) -> bool:
    """True when this address, and each that hides inside it, is a global unicast one."""
    return all(_is_public_itself(one) for one in (address, *_hidden_in(address)))


def _hidden_in(address: Address) -> Iterator[Address]:
    """IPv4 addresses that a gateway would unwrap: mapped, 6to4, Teredo (server and client), NAT64."""
    if not isinstance(address, ipaddress.IPv6Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in _NAT64:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _is_public_itself(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address in _NAT64):
        return True  # judged by what hides inside
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return not any(address.version == network.version and address in network for network in _NOT_PUBLIC)
