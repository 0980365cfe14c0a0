"""Decide which addresses belong to the public internet, without lookups and connections (SEC12)."""

import ipaddress
import re
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
# IANA's special-purpose registries, written out, because `ipaddress.is_global` differs between Python versions.
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by carriers
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation, like two more below
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "2001::/23",  # protocols
        "2001:db8::/32",  # documentation
        "3fff::/20",
    )
]
# Some parsers read a host whose last label is a number as an IPv4 address: 127.1, 0x7f.1, 2130706433, 0177.0.0.1.
_NUMERIC_END = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)


class AmbiguousAddress(ValueError):
    """The text looks like an address, but parsers read it differently."""


def parse_literal_address(host: str) -> Address | None:
    """Return `host` as an address, or None if it is a name. Raises `AmbiguousAddress` for unusual forms of an address."""
    if ":" not in host and not _NUMERIC_END.search(host):
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError as error:
        raise AmbiguousAddress(host) from error


def is_public(address: Address) -> bool:
    """Return whether this address, and each that is embedded in it, is a global unicast address."""
    return all(_is_public_itself(one) for one in (address, *_list_embedded_addresses(address)))


def _list_embedded_addresses(address: Address) -> Iterator[Address]:
    """Yield the IPv4 addresses that a gateway would unwrap: mapped, 6to4, Teredo (server and client), NAT64."""
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
    if any(_list_embedded_addresses(address)):
        return True  # the embedded addresses decide
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return not any(address.version == network.version and address in network for network in _NOT_PUBLIC)
