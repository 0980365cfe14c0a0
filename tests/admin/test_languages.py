"""The admin is completely translated into three languages, and nothing else on the server is."""

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import get_language

from actors.models import Actor
from agents.models import AgentGrant
from events.models import AuditRecord
from operators.management.commands import texts
from tests.admin.environment import MODELS, build_path, run_action
from tests.factories.actors import PASSWORD

LOGIN = "/admin/login/"
WORD, CHINESE = re.compile(r"[A-Za-z]{3}"), re.compile(r"[\u4e00-\u9fff]")
TEXT_TAGS = {"label", "th", "h1", "h2", "h3", "button", "legend", "summary", "option"}
# Names, which are the same in every language.
NAMES = {"Agent", "English", "Webhook", "zh-hant", "zh-hans"}


class PageTexts(HTMLParser):
    """Collects the texts of a page itself: headings, labels, buttons and hints, without the contents of its rows."""

    def __init__(self, html):
        super().__init__()
        self.open = []
        self.texts = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag not in {"input", "br", "img", "meta", "link", "hr", "path"}:
            self.open.append((tag, dict(attrs).get("class") or ""))
        self.texts |= {value for name, value in attrs if name in ("placeholder", "aria-label") and value}

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        is_icon = any("material-symbols" in css for _, css in self.open)
        tags = {tag for tag, _ in self.open}
        if not is_icon and tags & TEXT_TAGS and "tbody" not in tags:
            self.texts.add(data.strip())

    def list_english(self):
        return {text for text in self.texts if WORD.search(text) and not CHINESE.search(text)} - NAMES


def get_page_language(client, path="/admin/", **headers):
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, path
    return answer.content.decode().partition('<html lang="')[2].partition('"')[0]


def build_catalog(*texts):
    catalog = Catalog()
    for text in texts:
        catalog.add(text, locations=[("a.py", 1)])
    return catalog


def test_every_text_is_translated():
    collected = {message.id for message in texts.collect_texts()}
    assert {
        "Close the account",
        "created at",
        "Waiting for approval",
        "Can invite people",
        "Newest in the audit trail",
        "Welcome back to",
        "This run is over.",
        "This merge is over.",
        "This draft is not locked.",
        "They are not in this chat.",
        "A workspace keeps at least one editor.",
    } <= collected
    call_command("texts", check=True)


def test_every_table_and_column_has_a_name_to_translate():
    for model in MODELS:
        assert isinstance(model._meta.verbose_name, Promise), model
        assert isinstance(model._meta.verbose_name_plural, Promise), model
        for field in model._meta.fields:
            names = [field.verbose_name, *(label for _value, label in field.flatchoices)]
            assert field.auto_created or all(isinstance(name, Promise) for name in names), field


def test_the_compiled_translations_are_current():
    """`make dev` compiles them. If a catalogue has been edited since, pages show old texts."""
    for path in (settings.ROOT / "locale").glob("*/LC_MESSAGES/django.po"):
        catalog = io.BytesIO()
        write_mo(catalog, texts.read_catalog(path, path.parent.parent.name))
        assert path.with_suffix(".mo").read_bytes() == catalog.getvalue()


def test_problems_of_a_catalogue_are_reported(tmp_path):
    path: Path = tmp_path / "zh_Hant.po"
    texts.update_catalog(path, "zh_Hant", build_catalog("one", "%(n)s of {m}", "gone"))
    path.write_text(path.read_text().replace('{m}"\nmsgstr ""', '{m}"\nmsgstr "%(n)s"'))
    reported = "\n".join(texts.find_problems(path, "zh_Hant", build_catalog("one", "%(n)s of {m}", "new")))
    for part in (
        "not collected: 'new'",
        "not used any more: 'gone'",
        "not translated: 'one'",
        "other placeholders in the translation of '%(n)s of {m}'",
    ):
        assert part in reported


def test_the_language_is_the_persons_else_that_of_the_cookie_else_that_of_the_browser(environment):
    assert get_page_language(environment.client) == "en"
    assert get_page_language(environment.client, **{"accept-language": "zh-TW,en;q=0.5"}) == "zh-hant"
    assert get_page_language(environment.client, **{"accept-language": "zh-CN"}) == "zh-hans"
    assert get_page_language(environment.client, **{"accept-language": "fr"}) == "en"
    environment.client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hant"
    assert get_page_language(environment.client, **{"accept-language": "en"}) == "zh-hant"
    Actor.objects.filter(pk=environment.operator.pk).update(language="zh-hans")
    assert get_page_language(environment.client, **{"accept-language": "en"}) == "zh-hans"


def test_the_language_can_be_chosen_before_sign_in(environment):
    browser = Client()
    html = browser.get(LOGIN).content.decode()
    assert "繁體中文" in html
    assert "简体中文" in html
    answer = browser.post("/admin/language/", {"language": "zh-hant", "next": LOGIN})
    assert (answer.status_code, answer.headers["Location"]) == (302, LOGIN)
    html = browser.post(LOGIN, {"username": environment.operator.email, "password": "wrong"}).content.decode()
    assert "登入" in html
    assert PageTexts(html).list_english() == set()
    browser.post(LOGIN, {"username": environment.operator.email, "password": PASSWORD})
    assert get_page_language(browser) == "zh-hant"


def test_the_language_that_a_person_chooses_is_saved_for_them(environment):
    assert environment.client.post("/admin/language/", {"language": "zh-hans", "next": "/admin/"}).status_code == 302
    environment.operator.refresh_from_db()
    assert environment.operator.language == "zh-hans"
    assert environment.client.get("/api/v1/me").json()["language"] == "zh-hans"
    assert AuditRecord.objects.filter(action="profile.updated", actor=environment.operator).count() == 1


def test_the_choice_of_language_refuses_foreign_redirects_unknown_languages_and_non_operators(environment, team):
    answer = environment.client.post("/admin/language/", {"language": "tlh", "next": "https://evil.example/"})
    assert answer.headers["Location"] == "/"
    environment.operator.refresh_from_db()
    assert environment.operator.language == ""
    assert environment.client.get("/admin/language/").status_code == 405
    stranger = Client(enforce_csrf_checks=True)
    assert stranger.post("/admin/language/", {"language": "zh-hans"}).status_code == 403
    browser = Client()
    browser.force_login(team.alice)
    assert browser.post("/admin/language/", {"language": "zh-hans"}).status_code == 404


@pytest.mark.parametrize("language", ["zh-hant", "zh-hans"])
def test_no_page_has_english_texts_in_chinese(filled_environment, language):
    Actor.objects.filter(pk=filled_environment.operator.pk).update(language=language)
    # Each language checks half of the tables, because both catalogues have the same texts.
    tables = MODELS[language == "zh-hans" :: 2]
    paths = ["/admin/", "/admin/actors/", build_path(AgentGrant, "add")]
    for model in tables:
        paths += [build_path(model), build_path(model, model._default_manager.order_by("-pk")[0].pk, "change")]
    found = {}
    for path in paths:
        answer = filled_environment.client.get(path)
        row = capfirst(answer.context.get("subtitle") or "")
        found[path] = PageTexts(answer.content.decode()).list_english() - {row}
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_errors_of_services_are_shown_in_the_operators_language(environment):
    Actor.objects.filter(pk=environment.operator.pk).update(language="zh-hant")
    assert "不能關閉自己的帳號。" in run_action(environment.client, environment.operator, "deactivate").content.decode()


def test_only_the_admin_is_translated(environment):
    Actor.objects.filter(pk=environment.operator.pk).update(language="zh-hant")
    assert get_page_language(environment.client) == "zh-hant"
    assert get_language() == "en"
    answer = environment.client.get("/api/v1/nothing", headers={"accept-language": "zh-TW"})
    assert not CHINESE.search(answer.content.decode())
