"""Hosts that are not on the public internet are refused, by their URL, by DNS and at the socket."""

import asyncio
import ipaddress
import socket
from contextlib import suppress

import pytest
from yarl import URL

from common.egress import (
    HostRefused,
    PublicOnlyResolver,
    check_model_server,
    check_url,
    close_sessions,
    get_session_for,
    list_hosts_without_path,
    list_model_hosts,
    make_checked_socket,
    read_capped,
)
from common.errors import Code
from common.fetching import FetchFailed, open_url
from common.ip_addresses import is_public
from tests.hostile_web import ConnectionRecorder, FakeDns, Site

REFUSED = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://127。0。0。1/",
    "http://１２７.0.0.1/",
    "http://⑯⑨.254.169.254/",
    "http://%31%32%37.0.0.1/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2001:0:7f00:1:0:0:f5ff:fffe]/",
    "http://[fd00::1]/",
    "http://[fc00::1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://192.88.99.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://foo.localhost/",
    "http://metadata.google.internal/",
    "http://printer.local/",
    "http://postgres/",
    "http://host-of-docker/",
    "http://8.8.8.8:8080/",
    "http://8.8.8.8:22/",
    "http://8.8.8.8:0/",
    "http://example.com:99999/",
    "http://user@example.com/",
    "http://user:pw@example.com/",
    "http://@example.com/",
    "http://1.1.1.1 &@2.2.2.2# @3.3.3.3/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com\t/",
    "http://exa mple.com/",
    "http://example.com\r\nHost: x/",
    " http://example.com/",
    "http://example.com/\x00",
    "http:///etc/passwd",
    "http://",
    "",
    "//example.com/",
    "example.com",
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/",
    "data:text/plain,x",
    "http://xn--a/",
    "http://exam%70le.com/",
    "http://example..com/",
]
PUBLIC = {"8.8.8.8", "1.1.1.1", "2.2.2.2"}


@pytest.mark.parametrize("url", REFUSED)
async def test_SEC12_a_host_that_is_not_public_is_refused_without_a_lookup(
    url: str, connects: ConnectionRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("it was looked up"))
    with pytest.raises(HostRefused) as refused:
        check_url(url)
    assert refused.value.code is Code.HOST_REFUSED
    with pytest.raises(HostRefused):
        async with open_url(url):
            pass
    assert connects.seen == []


@pytest.mark.parametrize("url", [url for url in REFUSED if url.startswith("http")])
async def test_SEC12_the_socket_refuses_private_addresses_even_without_a_check_of_the_url(
    url: str, site: Site, connects: ConnectionRecorder, names: FakeDns
) -> None:
    """All names resolve to the loopback here, and `check_url` is not called: the socket itself must refuse."""
    names.answers = [["127.0.0.1"]]
    connects.allowed = {site.port}
    session = get_session_for(check_url("http://example.com"))
    for port in (None, site.port):
        with suppress(Exception):  # any error will do, as long as there is no connection
            read = URL(url.strip())
            await session.get(read.with_port(port) if port else read, allow_redirects=False)
    assert {seen[0] for seen in connects.seen} <= PUBLIC
    assert site.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "https://api.openai.com:443/v1",
        "http://example.com",
        "http://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "https://[64:ff9b::8.8.8.8]/",
        "https://中文.com/v1",
        "https://a_b.example.com./v1",
    ],
)
def test_a_public_host_is_accepted(url: str) -> None:
    assert check_url(url).trusted is False


def test_a_private_host_is_accepted_if_the_operator_names_it_with_its_port() -> None:
    allowed = {"localhost:11434"}
    assert check_url("http://localhost:11434/v1", allowed).trusted is True
    assert check_url("http://LOCALHOST.:11434/v1", allowed).trusted is True
    for other in ("http://localhost:11435/v1", "http://127.0.0.1:11434/v1", "http://x.localhost:11434/v1"):
        with pytest.raises(HostRefused):
            check_url(other, allowed)


def test_local_model_servers_are_allowed_in_embedded_mode_only_and_our_own_port_never(settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"GPU.lan:9000", "gpu.lan:9001/openai/V1/"})
    settings.EMBEDDED = False
    assert list_model_hosts() == {"gpu.lan:9000": {"/v1"}, "gpu.lan:9001": {"/openai/V1"}}
    assert list_hosts_without_path() == {"gpu.lan:9000"}
    settings.EMBEDDED, settings.OWN_PORT = True, 8000
    assert {"gpu.lan:9000", "localhost:11434", "127.0.0.1:1234", "localhost:8080"} <= list_model_hosts().keys()
    assert not {"localhost:8000", "127.0.0.1:8000"} & list_model_hosts().keys()


@pytest.mark.parametrize(
    "base",
    [
        "http://gpu.lan:9000/api",
        "http://gpu.lan:9000",
        "http://gpu.lan:9000/v1?x=",
        "http://gpu.lan:9000/v1#",
        "http://gpu.lan:9000/v1/../api",
        "http://gpu.lan:9000/v1/%2e%2e/api",
        "http://gpu.lan:9000/V1",
        "https://models.example.com/v1?key=1",
        "http://gpu.lan:9001/v1",
    ],
)
def test_a_model_server_on_a_private_host_is_accepted_below_its_path_only(settings, base: str) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"gpu.lan:9000", "gpu.lan:9001/openai/v1"})
    assert check_model_server("http://gpu.lan:9000/v1/").trusted
    assert check_model_server("http://gpu.lan:9001/openai/v1").trusted
    with pytest.raises(HostRefused):
        check_model_server(base)


GLOBAL = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2002:808:808::1", "64:ff9b::808:808", "::ffff:8.8.8.8"]
SPECIAL = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.31.0.1",
    "192.0.0.9",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.19.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "100::1",
    "64:ff9b:1::1",
    "2001:2::1",
    "2001:4:112::1",
    "2001:20::1",
    "2001:30::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2002:7f00:1::1",
    "2002:a00:1::1",
    "2002:c0a8:101::1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "::ffff:10.0.0.1",
    "2001:0:a00:1::f7f7:f7f7",
    "2001:0:808:808::80ff:fffe",
]


@pytest.mark.parametrize("ip_address", GLOBAL)
def test_global_unicast_addresses_are_public(ip_address: str) -> None:
    assert is_public(ipaddress.ip_address(ip_address))


@pytest.mark.parametrize("ip_address", SPECIAL)
def test_special_and_embedded_special_addresses_are_not_public(ip_address: str) -> None:
    assert not is_public(ipaddress.ip_address(ip_address))


def test_the_result_does_not_depend_on_the_standard_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        for name in ("is_global", "is_private", "is_reserved", "is_multicast", "is_link_local", "is_loopback"):
            monkeypatch.setattr(kind, name, property(lambda self: pytest.fail("It depends on the version.")))
    assert all(is_public(ipaddress.ip_address(text)) for text in GLOBAL)
    assert not any(is_public(ipaddress.ip_address(text)) for text in SPECIAL)


# --- names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["10.0.0.1", "8.8.8.8"], ["::ffff:169.254.169.254"]]
)
async def test_SEC13_a_name_with_one_private_address_is_not_resolved(names: FakeDns, answer: list[str]) -> None:
    names.answers = [answer]
    with pytest.raises(HostRefused):
        await PublicOnlyResolver().resolve("models.example.com", 443)


async def test_a_name_with_public_addresses_only_is_resolved(names: FakeDns) -> None:
    names.answers = [["8.8.8.8", "2606:4700:4700::1111"]]
    found = await PublicOnlyResolver().resolve("models.example.com", 443)
    assert [one["host"] for one in found] == ["8.8.8.8", "2606:4700:4700::1111"]


def test_FAIR2_checking_the_address_of_a_model_server_resolves_no_name(names: FakeDns) -> None:
    names.answers = [[]]
    assert str(check_model_server("https://nowhere.example.com/v1").url) == "https://nowhere.example.com/v1"


# --- connections ------------------------------------------------------------------------------------------------


async def test_SEC13_a_name_that_changes_to_a_private_address_after_the_check_is_refused(
    site: Site, names: FakeDns
) -> None:
    names.answers = [["127.0.0.1"]]
    target = check_model_server("http://models.example.com/v1")
    url = target.url.with_port(site.port)
    with pytest.raises(HostRefused):
        await get_session_for(target).get(url, allow_redirects=False)
    assert site.asked == []


async def test_SEC13_the_connection_uses_the_address_that_was_checked(
    names: FakeDns, connects: ConnectionRecorder
) -> None:
    """The answer changes between two requests, and between the check and the connection."""
    for flip in range(4):
        names.answers = [["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8", "::1"], ["127.0.0.1"]][flip:]
        for _ in range(3):
            with pytest.raises((HostRefused, FetchFailed)):
                async with open_url("http://flip.example.com/"):
                    pass
        await close_sessions()  # clears the cache of lookups
    assert {seen[0] for seen in connects.seen} == {"8.8.8.8"}


async def test_SEC13_a_session_returns_a_redirect_and_does_not_follow_it(site: Site) -> None:
    target = check_url(site.set_redirect("/away", "/secret"), {site.host})
    async with get_session_for(target).post(target.url, allow_redirects=False) as response:
        assert response.status == 302
    assert len(site.asked) == 1


async def test_RUN14_only_the_first_bytes_of_a_large_body_are_read(site: Site) -> None:
    target = check_url(site.set_page("/big", b"x" * 3_000_000), {site.host})
    async with get_session_for(target).get(target.url) as response:
        assert len(await read_capped(response, 1000)) == 1000
        response.close()


async def test_proxies_of_the_environment_are_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    target = check_url(site.set_page("/", "secret"), {site.host})
    async with get_session_for(target).get(target.url) as response:
        assert await response.text() == "secret"


async def test_SEC17_passwords_of_netrc_are_not_sent(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login us password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    target = check_url(site.set_page("/", "hello"), {site.host})
    async with get_session_for(target).get(target.url):
        pass
    assert "Authorization" not in site.asked[0].headers


def test_the_socket_checks_its_address() -> None:
    with pytest.raises(HostRefused):
        make_checked_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))
    make_checked_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80))).close()


async def test_a_session_is_reused_on_the_same_loop_only() -> None:
    target = check_url("http://example.com")
    mine = get_session_for(target)
    assert get_session_for(target) is mine

    async def is_shared_by_another_loop() -> bool:
        other = get_session_for(target)
        await close_sessions()
        return other is mine

    assert await asyncio.to_thread(lambda: asyncio.run(is_shared_by_another_loop())) is False
    await close_sessions()


async def test_SEC13_one_private_address_makes_a_connection_fail_too(names: FakeDns) -> None:
    resolver = PublicOnlyResolver()
    names.answers = [["8.8.8.8", "10.0.0.1"]]
    with pytest.raises(HostRefused):
        await resolver.resolve("models.example.com", 443)
    names.answers = [["8.8.8.8", "1.1.1.1"]]
    assert [answer["host"] for answer in await resolver.resolve("models.example.com", 443)] == ["8.8.8.8", "1.1.1.1"]


def test_both_spellings_of_this_machine_are_allowed(settings) -> None:
    for allowed, other in (("localhost:9097", "127.0.0.1:9097"), ("127.0.0.1:9097/openai/v1", "localhost:9097")):
        settings.ALLOW_PRIVATE_HOSTS = frozenset({allowed})
        path = allowed.partition("/")[2] or "v1"
        assert check_model_server(f"http://{other}/{path}").trusted
        assert (other in list_hosts_without_path()) == ("/" not in allowed)


@pytest.mark.parametrize("url", ["http://gpu.lan:11434/v1", "http://192.168.1.7/v1", "http://gpu/v1"])
def test_a_refused_host_says_what_the_operator_can_do(settings, url: str) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    with pytest.raises(HostRefused) as refused:
        check_model_server(url)
    host = URL(url)
    assert refused.value.hints == [f"The operator can allow it: ATELIER_ALLOW_PRIVATE_HOSTS={host.host}:{host.port}"]
