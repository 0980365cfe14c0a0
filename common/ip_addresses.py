"""Decide which IP addresses belong to the public internet, without lookups and connections (SEC12)."""

import ipaddress
import re
from collections.abc import Iterator

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

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


class AmbiguousIpAddress(ValueError):
    """The text looks like an IP address, but parsers read it differently."""


def parse_ip_address(host: str) -> IpAddress | None:
    """Return `host` as an IP address, or None if it is a name. Raises `AmbiguousIpAddress` for unusual forms of one."""
    if ":" not in host and not _NUMERIC_END.search(host):
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError as error:
        raise AmbiguousIpAddress(host) from error


def is_public(ip_address: IpAddress) -> bool:
    """Return whether this IP address, and each that is embedded in it, is a global unicast address."""
    return all(_is_public_or_wrapper(one) for one in (ip_address, *_list_embedded(ip_address)))


def _list_embedded(ip_address: IpAddress) -> Iterator[IpAddress]:
    """Yield the IPv4 addresses that a gateway would unwrap: mapped, 6to4, Teredo (server and client), NAT64."""
    if not isinstance(ip_address, ipaddress.IPv6Address):
        return
    if ip_address.ipv4_mapped:
        yield ip_address.ipv4_mapped
    if ip_address.sixtofour:
        yield ip_address.sixtofour
    if ip_address.teredo:
        yield from ip_address.teredo
    if ip_address in _NAT64:
        yield ipaddress.IPv4Address(int(ip_address) & 0xFFFFFFFF)


def _is_public_or_wrapper(ip_address: IpAddress) -> bool:
    """Return whether an address is global unicast or has others embedded, which `is_public` checks by themselves."""
    if any(_list_embedded(ip_address)):
        return True
    if isinstance(ip_address, ipaddress.IPv6Address) and ip_address not in _GLOBAL_UNICAST:
        return False
    return not any(ip_address.version == network.version and ip_address in network for network in _NOT_PUBLIC)
