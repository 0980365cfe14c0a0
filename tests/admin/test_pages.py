"""Every page of the admin opens, with any texts in the rows; lists need the same number of queries at any length."""

import re
from datetime import timedelta

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from admin_kit import changelist
from approvals.models import Approval
from common.clock import now
from common.ids import get_lowest_id_at
from events.models import AuditRecord
from operators.theme import NAVIGATION
from tests.admin.environment import (
    CANARY,
    MODELS,
    build_action_url,
    build_path,
    create_rows,
    get_model_admin,
    list_action_names,
    list_links,
)
from tests.chaos import IS_CHAOS
from usage.models import Budget

ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b\d+\b")
every_table = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


def open_page(client, path, query=None):
    answer = client.get(path, query or {})
    assert answer.status_code == 200, (path, answer.status_code, answer.headers.get("Location"))
    html = answer.content.decode()
    assert "<script>alert" not in html or answer["Content-Type"].startswith("text/csv")
    for secret in (CANARY, "encrypted_key", "token_hash", "digest", "md5$"):
        assert secret not in html, path
    return html


def get_kind(parameter):
    """Return the lookup of a filter, or "o" for an order. In `make chaos`: the filter itself, or the columns of the order."""
    if IS_CHAOS:
        return re.sub(r"^(?!o=)(\w+)=.*|-", r"\1", parameter)
    name = parameter.partition("=")[0]
    return name.partition("__")[2] or name


def select_one_of_each(addresses):
    """Return one link for each kind of filter and order of a list."""
    filtered = (address for address in addresses if address.startswith("?"))
    return sorted({"&".join(sorted(map(get_kind, one[1:].split("&")))): one for one in filtered}.values())


@every_table
def test_every_page_of_every_table_opens(filled_environment, without_navigation, model):
    client = filled_environment.client
    assert admin.site.is_registered(model)
    for address in select_one_of_each(list_links(open_page(client, build_path(model)))):
        open_page(client, build_path(model) + address)
    terms = ("'\"<%s{{", "李", str(filled_environment.team.alice.id))
    for term in terms if IS_CHAOS else terms[:1]:
        open_page(client, build_path(model), {"q": term})
    rows = model.objects.order_by("-pk")[:3]
    assert rows
    for row in rows:
        assert str(row.pk) in open_page(client, build_path(model, row.pk, "change"))
    assert client.get(build_path(model, rows[0].pk, "history")).status_code == 302
    for name in list_action_names(model):
        title = getattr(get_model_admin(model), name).short_description
        assert str(title) in open_page(client, build_action_url(rows[0], name))


def test_every_table_is_in_the_navigation(environment):
    page = environment.client.get("/admin/")
    entries = [item["link"] for group in NAVIGATION for item in group["items"]]
    links = [str(link(page.wsgi_request) if callable(link) else link) for link in entries]
    reached = {link.partition("?")[0] for link in links}
    assert [model.__name__ for model in MODELS if build_path(model) not in reached] == []
    assert len(links) == len(set(links))
    assert "nav-filter" in page.content.decode()


def test_the_search_of_the_navigation_finds_tables(environment):
    found = environment.client.get("/admin/search/", {"s": "approv"}).content.decode()
    assert build_path(Approval) in found
    assert build_path(Budget) not in found


def test_all_links_of_the_rows_open(filled_environment, without_navigation):
    """Those of the first row of each table that are not on the first page; without `make chaos` one of those that differ only in
    ids."""
    client = filled_environment.client
    addresses = {
        address
        for model in MODELS
        for address in list_links(
            open_page(client, build_path(model, model._default_manager.order_by("-pk")[0].pk, "change"))
        )
    }
    addresses -= set(list_links(open_page(client, "/admin/")))
    if not IS_CHAOS:
        addresses = set({ID.sub("", address): address for address in sorted(addresses)}.values())
    for address in sorted(addresses):
        assert client.get(address, follow=True).status_code == 200, address


def test_all_links_of_the_first_page_open(filled_environment):
    for address in sorted(
        set(list_links(open_page(filled_environment.client, "/admin/"))) - set(map(build_path, MODELS))
    ):
        if "logout" not in address:
            open_page(filled_environment.client, address)


def count_queries(client, paths):
    """Return the number of queries of each page."""
    counts = {}
    for path in paths:
        with CaptureQueriesContext(connection) as queries:
            open_page(client, path)
        counts[path] = len(queries)
    return counts


def check_query_counts(environment, paths):
    create_rows(environment.team, 2)
    for path in paths:
        open_page(environment.client, path)  # fills caches of the process, such as that of content types
    few = count_queries(environment.client, paths)
    create_rows(environment.team, 6, first=2)
    assert count_queries(environment.client, paths) == few
    assert max(few.values()) <= 14, few


def test_lists_need_as_many_queries_for_8_rows_as_for_2(environment, without_navigation):
    check_query_counts(environment, [*map(build_path, MODELS)])


def test_the_first_page_needs_as_many_queries_for_8_rows_as_for_2(environment):
    check_query_counts(environment, ["/admin/"])


def test_a_long_list_is_counted_up_to_the_maximum(filled_environment, monkeypatch):
    monkeypatch.setattr(changelist, "MAX_COUNT", 5)
    with CaptureQueriesContext(connection) as queries:
        html = open_page(filled_environment.client, build_path(AuditRecord))
    assert "5+" in html
    counts = [query["sql"] for query in queries if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT 6" in sql for sql in counts)


def test_rows_are_filtered_by_the_time_in_their_id(filled_environment):
    old = AuditRecord.objects.create(id=get_lowest_id_at(now() - timedelta(days=3)), action="long.ago")
    for when, is_there in (("hour", False), ("day", False), ("week", True), ("month", True)):
        assert (
            str(old.pk)
            in open_page(filled_environment.client, build_path(AuditRecord), {"when": when, "q": "long.ago"})
        ) is is_there
