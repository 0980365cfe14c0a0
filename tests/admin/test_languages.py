"""The admin speaks three languages: all of it, to each operator in theirs, and nothing else on the server does."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils.text import capfirst
from django.utils.translation import get_language

from actors.models import Actor
from agents.models import AgentGrant
from config import catalogue
from config.operators.names import TABLES
from events.admin_deeds import REFUSALS
from events.models import AuditRecord
from tests.admin.house import MODELS, deed, page
from tests.people import PASSWORD

LOGIN = "/admin/login/"
WORD, CHINESE = re.compile(r"[A-Za-z]{3}"), re.compile(r"[\u4e00-\u9fff]")
SPOKEN = {"label", "th", "h1", "h2", "h3", "button", "legend", "summary", "option"}
# Names, which are the same in every language.
NAMES = {"Agent", "English", "zh-hant", "zh-hans"}


class Spoken(HTMLParser):
    """What a page says by itself: headings, labels, buttons, hints; not what stands in its rows."""

    def __init__(self, html):
        super().__init__()
        self.open = []
        self.said = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag not in {"input", "br", "img", "meta", "link", "hr", "path"}:
            self.open.append((tag, dict(attrs).get("class") or ""))
        self.said |= {value for name, value in attrs if name in ("placeholder", "aria-label") and value}

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        is_icon = any("material-symbols" in css for _, css in self.open)
        tags = {tag for tag, _ in self.open}
        if not is_icon and tags & SPOKEN and "tbody" not in tags:
            self.said.add(data.strip())

    def english(self):
        return {text for text in self.said if WORD.search(text) and not CHINESE.search(text)} - NAMES


def speaks(client, path="/admin/", **headers):
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, path
    return answer.content.decode().partition('<html lang="')[2].partition('"')[0]


def test_every_text_is_translated_and_compiled():
    texts = catalogue.found()
    assert {("Close the account", None), ("created at", None), ("Waiting Approval", None), ("Can invite people", None),
            ("Newest in the audit trail", None), ("Welcome back to", None)} <= texts.keys()  # fmt: skip
    assert [line for locale in catalogue.languages() for line in catalogue.problems(locale, texts)] == []
    assert {model._meta.label_lower for model in MODELS} == TABLES.keys()


def test_what_is_wrong_with_a_catalogue_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "path_of", lambda locale: tmp_path / f"{locale}.po")
    texts: dict[catalogue.Key, str] = dict.fromkeys([("one", None), ("%(n)s of {m}", None), ("gone", None)], "a.py")
    catalogue.update("zh_Hant", texts)
    path: Path = tmp_path / "zh_Hant.po"
    path.write_text(path.read_text().replace('{m}"\nmsgstr ""', '{m}"\nmsgstr "%(n)s"'))
    texts = dict.fromkeys([("one", None), ("%(n)s of {m}", None), ("new", None)], "a.py")
    told = "\n".join(catalogue.problems("zh_Hant", texts))
    for part in ("not taken in: 'new'", "nobody shows 'gone'", "no translation of 'one'",
                 "other placeholders in the translation of '%(n)s of {m}'", "not compiled"):  # fmt: skip
        assert part in told


def test_a_persons_language_comes_before_what_this_browser_chose_and_that_before_what_it_prefers(house):
    assert speaks(house.client) == "en"
    assert speaks(house.client, **{"accept-language": "zh-TW,en;q=0.5"}) == "zh-hant"
    assert speaks(house.client, **{"accept-language": "zh-CN"}) == "zh-hans"
    assert speaks(house.client, **{"accept-language": "fr"}) == "en"
    house.client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hant"
    assert speaks(house.client, **{"accept-language": "en"}) == "zh-hant"
    Actor.objects.filter(pk=house.operator.pk).update(language="zh-hans")
    assert speaks(house.client, **{"accept-language": "en"}) == "zh-hans"


def test_the_switch_works_before_somebody_signs_in_and_says_so_to_who_guesses(house):
    browser = Client()
    html = browser.get(LOGIN).content.decode()
    assert "繁體中文" in html
    assert "简体中文" in html
    answer = browser.post("/admin/language/", {"language": "zh-hant", "next": LOGIN})
    assert (answer.status_code, answer.headers["Location"]) == (302, LOGIN)
    html = browser.post(LOGIN, {"username": house.operator.email, "password": "wrong"}).content.decode()
    assert "登入" in html
    assert Spoken(html).english() == set()
    browser.post(LOGIN, {"username": house.operator.email, "password": PASSWORD})
    assert speaks(browser) == "zh-hant"


def test_the_switch_of_who_is_signed_in_is_theirs_wherever_they_sign_in(house):
    assert house.client.post("/admin/language/", {"language": "zh-hans", "next": "/admin/"}).status_code == 302
    house.operator.refresh_from_db()
    assert house.operator.language == "zh-hans"
    assert house.client.get("/api/v1/me").json()["language"] == "zh-hans"
    assert AuditRecord.objects.filter(deed="profile.changed", actor=house.operator).count() == 1


def test_the_switch_leads_nowhere_else_knows_its_languages_and_is_hidden_from_others(house, team):
    answer = house.client.post("/admin/language/", {"language": "tlh", "next": "https://evil.example/"})
    assert answer.headers["Location"] == "/"
    house.operator.refresh_from_db()
    assert house.operator.language == ""
    assert house.client.get("/admin/language/").status_code == 405
    stranger = Client(enforce_csrf_checks=True)
    assert stranger.post("/admin/language/", {"language": "zh-hans"}).status_code == 403
    browser = Client()
    browser.force_login(team.alice)
    assert browser.post("/admin/language/", {"language": "zh-hans"}).status_code == 404


@pytest.mark.parametrize("language", ["zh-hant", "zh-hans"])
def test_no_page_says_anything_in_english(full_house, language):
    Actor.objects.filter(pk=full_house.operator.pk).update(language=language)
    # The two take turns: what one of them lacks, the other would lack in its catalogue.
    tables = MODELS[language == "zh-hans" :: 2]
    paths = ["/admin/", "/admin/actors/", page(AgentGrant, "add")]
    for model in tables:
        paths += [page(model), page(model, model._default_manager.order_by("-pk")[0].pk, "change")]
    found = {}
    for path in paths:
        answer = full_house.client.get(path)
        row = capfirst(answer.context.get("subtitle") or "")
        found[path] = Spoken(answer.content.decode()).english() - {row}
    assert {path: said for path, said in found.items() if said} == {}


def test_what_a_service_refuses_is_read_in_the_operators_language(house):
    Actor.objects.filter(pk=house.operator.pk).update(language="zh-hant")
    assert "不能關閉自己的帳號。" in deed(house.client, house.operator, "deactivate").content.decode()
    sources = "".join(path.read_text() for app in ("actors", "workspaces", "chats", "agents", "suggestions")
                      for path in (settings.ROOT / app / "services.py", *(settings.ROOT / app).rglob("services/**/*.py"))
                      if path.exists())  # fmt: skip
    assert [text for text in REFUSALS if f'"{text}"' not in sources] == []


def test_only_the_admin_speaks_them(house):
    Actor.objects.filter(pk=house.operator.pk).update(language="zh-hant")
    assert speaks(house.client) == "zh-hant"
    assert get_language() == "en"
    answer = house.client.get("/api/v1/nothing", headers={"accept-language": "zh-TW"})
    assert not CHINESE.search(answer.content.decode())
