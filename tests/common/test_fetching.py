"""Opening pages on other servers: each redirect is checked, and time, size and redirects are limited."""

import asyncio
import re
from pathlib import Path

import pytest
from aiohttp import web
from yarl import URL

from common.egress import HostRefused, Target, read_capped
from common.fetching import MAX_REDIRECTS, FetchFailed, _check_redirect, open_url
from tests.hostile_web import FakeDns, Responder, Site, build_bomb, gzip_text, run_site, run_tcp_server

MiB = 1024 * 1024


async def fetch_body(site: Site, url: str, **options) -> bytes:
    async with open_url(url, allow_private={site.host}, **options) as response:
        return await read_capped(response, 2 * MiB)


# --- redirects --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.1:{other}/",
        "http://localhost:{other}/",
        "//127.0.0.1:{other}/",
        "http://[::ffff:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://metadata.google.internal/",
        "http://user:pw@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}\\@8.8.8.8/",
        "http://[",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "data:text/html,x",
        "http://inside.example.com/",
    ],
)
async def test_SEC13_each_redirect_is_checked_like_the_first_address(site: Site, names: FakeDns, to: str) -> None:
    names.answers = [["127.0.0.1"]]
    async with run_site() as other:
        where = to.format(port=site.port, other=other.port)
        site.set_redirect("/first", "/second")
        site.set_redirect("/second", where)
        with pytest.raises(HostRefused):
            await fetch_body(site, site.url("/first"))
        assert other.asked == []
    assert [request.path for request in site.asked] == ["/first", "/second"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_and_the_response_has_the_final_address(site: Site, status: int) -> None:
    site.set_page("/there/page", "here")
    site.set_redirect("/old", "there/page?a=1", status)
    async with open_url(site.url("/old"), allow_private={site.host}) as response:
        assert (str(response.url), await response.text()) == (site.url("/there/page?a=1"), "here")


async def test_SEC13_the_number_of_redirects_is_limited(site: Site) -> None:
    for hop in range(MAX_REDIRECTS):
        site.set_redirect(f"/{hop}", f"/{hop + 1}")
    site.set_page(f"/{MAX_REDIRECTS}", "made it")
    assert await fetch_body(site, site.url("/0")) == b"made it"
    site.set_redirect("/round", "/round")
    with pytest.raises(FetchFailed, match="more than 5 times"):
        await fetch_body(site, site.url("/round"))


async def test_SEC13_another_origin_gets_no_identifying_headers(site: Site) -> None:
    headers = {"Authorization": "Bearer secret", "X-Api-Key": "secret", "Cookie": "a=b", "Accept": "text/html"}
    site.set_page("/page", "hello")
    site.set_redirect("/same", "/page")
    site.set_redirect("/other", f"http://localhost:{site.port}/page")
    allowed = {site.host, f"localhost:{site.port}"}
    for path in ("/same", "/other"):
        async with open_url(site.url(path), allow_private=allowed, headers=headers):
            pass
    same, other = (request for request in site.asked if request.path == "/page")
    assert same.headers["Authorization"] == "Bearer secret"
    assert "secret" not in str(other.headers)
    assert "Cookie" not in other.headers
    assert other.headers["Accept"] == "text/html"


def test_SEC13_a_redirect_from_https_to_http_is_refused() -> None:
    safe = Target(URL("https://example.com/a"), trusted=False)
    with pytest.raises(HostRefused, match="https to http"):
        _check_redirect(safe, "http://example.com/b", frozenset())
    assert str(_check_redirect(safe, "b", frozenset()).url) == "https://example.com/b"


# --- time and size ----------------------------------------------------------------------------------------------


async def drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"x")
        await asyncio.sleep(0.02)


async def test_RUN13_a_slow_body_is_aborted_at_the_time_limit(site: Site) -> None:
    site.pages["/drip"] = drip
    with pytest.raises(FetchFailed, match="in time"):
        await fetch_body(site, site.url("/drip"), seconds=0.3)
    await asyncio.wait_for(site.left.wait(), 5)


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def dripping_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not reader.at_eof():
        writer.write(b"X")
        await asyncio.wait([asyncio.ensure_future(reader.read(1000))], timeout=0.02)
    writer.close()


async def endless_header(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000)
    await reader.read()
    writer.close()


async def endless_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 10_000)
    await reader.read()
    writer.close()


async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
    writer.close()


@pytest.mark.parametrize(
    ("respond", "message"),
    [
        (silent, "in time"),
        (dripping_headers, "in time"),
        (endless_header, "cannot be read"),
        (endless_headers, "cannot be read"),
        (nonsense, "cannot be read"),
    ],
)
async def test_RUN13_a_response_that_never_reaches_its_body_is_aborted(respond: Responder, message: str) -> None:
    async with run_tcp_server(respond) as host, run_site():
        with pytest.raises(FetchFailed, match=message):
            async with open_url(f"http://{host}/", allow_private={host}, seconds=0.5):
                pass


async def test_an_unreachable_server_and_one_without_TLS_have_different_errors(site: Site) -> None:
    for url, host, message in [
        ("http://127.0.0.1:9/", "127.0.0.1:9", "cannot be reached"),
        (f"https://{site.host}/", site.host, "certificate"),
    ]:
        with pytest.raises(FetchFailed, match=message):
            async with open_url(url, allow_private={host}):
                pass


async def test_an_unknown_host_name_is_reported(site: Site, names: FakeDns) -> None:
    names.answers = [[]]
    with pytest.raises(FetchFailed, match=r"no host named nobody\.example\.com"):
        async with open_url("http://nobody.example.com/"):
            pass


def peak() -> int:
    """Return the peak memory of this process since the last write to `clear_refs`, in bytes."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) * 1024


@pytest.mark.parametrize("kind", ["gzip", "deflate"])
async def test_RUN14_a_compressed_bomb_is_decompressed_only_as_far_as_it_is_read(site: Site, kind: str) -> None:
    site.set_page("/bomb", build_bomb(kind, 10 * 1024 * MiB), Content_Encoding=kind)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    assert await fetch_body(site, site.url("/bomb")) == bytes(2 * MiB)
    assert peak() - before < 50 * MiB


@pytest.mark.parametrize("kind", ["br", "zstd"])
async def test_RUN14_an_encoding_that_was_not_requested_is_refused(site: Site, kind: str) -> None:
    site.set_page("/odd", b"\x8b\x00" + bytes(1000), Content_Encoding=kind)
    with pytest.raises(FetchFailed, match="cannot be read"):
        await fetch_body(site, site.url("/odd"))
    assert site.asked[0].headers["Accept-Encoding"] == "gzip, deflate"


async def test_a_compressed_page_is_decompressed(site: Site) -> None:
    site.set_page("/packed", gzip_text("hello"), Content_Encoding="gzip")
    assert await fetch_body(site, site.url("/packed")) == b"hello"
