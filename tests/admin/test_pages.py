"""Every page of the operators' view opens, whatever stands in the rows; lists cost the same at any length."""

import re
from datetime import timedelta

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from admin_kit import changelist
from common.clock import now
from common.ids import get_lowest_id_at
from events.models import AuditRecord
from tests.admin.environment import CANARY, MODELS, action_names, action_url, fill, get_model_admin, links_in, page

every_table = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


def opened(client, path, query=None):
    answer = client.get(path, query or {})
    assert answer.status_code == 200, (path, answer.status_code, answer.headers.get("Location"))
    html = answer.content.decode()
    assert "<script>alert" not in html
    for secret in (CANARY, "encrypted_key", "token_hash", "digest", "md5$"):
        assert secret not in html, path
    return html


def one_of_each(addresses):
    """Of the ways to narrow a list one for each filter, and one for each column by which it is sorted."""
    narrowed = (address for address in addresses if address.startswith("?"))
    return sorted({"&".join(sorted(re.sub(r"^(?!o=)(\w+)=.*|-", r"\1", one) for one in address[1:].split("&"))): address
                   for address in narrowed}.values())  # fmt: skip


@every_table
def test_every_page_of_every_table_opens(filled_environment, model):
    client = filled_environment.client
    assert admin.site.is_registered(model)
    for address in one_of_each(links_in(opened(client, page(model)))):
        opened(client, page(model) + address)
    for term in ("李", "'\"<%s{{", str(filled_environment.team.alice.id)):
        opened(client, page(model), {"q": term})
    rows = model.objects.order_by("-pk")[:3]
    assert rows
    for row in rows:
        assert str(row.pk) in opened(client, page(model, row.pk, "change"))
    assert client.get(page(model, rows[0].pk, "history")).status_code == 302
    for name in action_names(model):
        title = getattr(get_model_admin(model), name).short_description
        assert str(title) in opened(client, action_url(rows[0], name))


@every_table
def test_what_belongs_to_a_row_is_one_click_away(filled_environment, model):
    html = opened(filled_environment.client, page(model, model.objects.first().pk, "change"))
    everywhere = set(links_in(opened(filled_environment.client, "/admin/")))
    for address in sorted(set(links_in(html)) - everywhere):
        answer = filled_environment.client.get(address, follow=True)
        assert answer.status_code == 200, address


def test_every_link_of_the_first_page_leads_somewhere(filled_environment):
    for address in sorted(set(links_in(opened(filled_environment.client, "/admin/"))) - set(map(page, MODELS))):
        if "logout" not in address:
            opened(filled_environment.client, address)


def test_lists_and_the_first_page_take_the_same_queries_at_2_rows_and_at_8(environment):
    def asked(path):
        with CaptureQueriesContext(connection) as queries:
            opened(environment.client, path)
        return len(queries)

    paths = ["/admin/", *map(page, MODELS)]
    fill(environment.team, 2)
    for path in paths:
        opened(environment.client, path)  # what is looked up once for a process, such as content types
    few = {path: asked(path) for path in paths}
    fill(environment.team, 6, first=2)
    assert {path: asked(path) for path in paths} == few
    assert max(few.values()) <= 14, few


def test_a_long_list_is_not_counted_to_its_end(filled_environment, monkeypatch):
    monkeypatch.setattr(changelist, "MAX_COUNT", 5)
    with CaptureQueriesContext(connection) as queries:
        html = opened(filled_environment.client, page(AuditRecord))
    assert "5+" in html
    counts = [query["sql"] for query in queries if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT 6" in sql for sql in counts)


def test_rows_are_found_by_the_time_in_their_id(filled_environment):
    old = AuditRecord.objects.create(id=get_lowest_id_at(now() - timedelta(days=3)), action="long.ago")
    for when, is_there in (("hour", False), ("day", False), ("week", True), ("month", True)):
        assert (
            str(old.pk) in opened(filled_environment.client, page(AuditRecord), {"when": when, "q": "long.ago"})
        ) is is_there
