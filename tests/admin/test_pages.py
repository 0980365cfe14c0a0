"""Every page of the operators' view opens, whatever stands in the rows; lists cost the same at any length."""

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.house import CANARY, MODELS, fill, links_in, page

pytestmark = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


def opened(client, path, query=None):
    answer = client.get(path, query or {})
    assert answer.status_code == 200, (path, answer.status_code, answer.headers.get("Location"))
    html = answer.content.decode()
    assert "<script>alert" not in html
    assert CANARY not in html
    for secret in ("sealed_key", "token_hash", "md5$"):
        assert secret not in html
    return html


def test_B9_every_page_of_every_table_opens(full_house, model):
    assert admin.site.is_registered(model)
    client, table = full_house.client, admin.site._registry[model]
    opened(client, page(model))
    for term in ("a", "李", "'\"<%s{{", str(full_house.team.alice.id)):
        opened(client, page(model), {"q": term})
    for row in model.objects.order_by("-pk")[:6]:
        html = opened(client, page(model, row.pk, "change"))
        assert str(row.pk) in html
        assert client.get(page(model, row.pk, "history")).status_code == 302
    for one in (*table.deeds,):
        dialog = opened(client, f"{page(model, model.objects.first().pk)}{one.name.replace('_', '-')}/")
        assert one.label in dialog


def test_B9_every_filter_and_every_link_of_a_list_leads_somewhere(full_house, model):
    html = opened(full_house.client, page(model))
    filters = {address for address in links_in(html) if address.startswith("?")}
    for address in sorted(filters):
        opened(full_house.client, page(model) + address)
    for address in sorted(set(links_in(html)) - filters):
        answer = full_house.client.get(address, follow=True)
        assert answer.status_code == 200, address


def test_B9_what_belongs_to_a_row_is_one_click_away(full_house, model):
    row = model.objects.first()
    html = opened(full_house.client, page(model, row.pk, "change"))
    for address in sorted(set(links_in(html))):
        if address.startswith("/admin/") and "logout" not in address:
            answer = full_house.client.get(address, follow=True)
            assert answer.status_code == 200, address


def test_a_list_takes_the_same_queries_at_2_rows_and_at_20(house, model):
    def asked():
        with CaptureQueriesContext(connection) as queries:
            opened(house.client, page(model))
        return len(queries)

    fill(house.team, 2)
    asked()  # what is looked up once for a process, such as content types
    few = asked()
    fill(house.team, 18, first=2)
    assert asked() == few
