"""Two people pin, edit, delete and react to messages, judge answers and ask for others: one at a desktop, one with a phone."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, join_by_link, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def find_message(person: Person, text: str) -> Locator:
    return person.log.get_by_role("article").filter(has_text=text)


def find_pins_button(person: Person, count: int) -> Locator:
    return person.page.get_by_role("button", name=f"Pinned messages: {count}", exact=True)


def test_a_pinned_message_is_seen_by_all_and_opened_from_the_list(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    join_by_link(alice, bob, "suggester")
    bob.sees("Hello, I am Scribe.")
    alice.post("The garage code is 4711. @bob keep it")
    bob.sees("The garage code is 4711.")

    # Alice pins by the toolbar of the message, and Bob sees it at once: a line, a mark, and the number in the header.
    message = find_message(alice, "The garage code is 4711.")
    expect(alice.page.get_by_text("No agent will answer.")).to_be_visible()  # the log moves when the composer says this
    message.hover()
    with alice.page.expect_response(lambda answer: answer.url.endswith("/pin")) as pinned:
        message.get_by_role("button", name="More", exact=True).click()
        alice.page.get_by_role("menuitem", name="Pin").click()
    assert pinned.value.ok, pinned.value.text()
    bob.sees("Alice pinned a message")
    expect(find_message(alice, "The garage code is 4711.").get_by_role("img", name="Pinned by you")).to_be_visible()
    expect(find_pins_button(bob, 1)).to_be_visible()

    # Alice pins the answer of the agent by the keyboard.
    greeting = find_message(alice, "Hello, I am Scribe.")
    greeting.focus()
    alice.page.keyboard.press("p")
    expect(find_pins_button(alice, 2)).to_be_visible()

    for number in range(12):
        alice.post(f"Note {number}: " + "the river and the garden " * 12)
    alice.sees("Note 11: ")

    # Bob opens the list on the phone, the last pinned message first, and goes to one in its place.
    find_pins_button(bob, 2).tap()
    pins = bob.page.get_by_role("dialog", name="Pinned messages")
    expect(pins.get_by_role("listitem")).to_have_text([re.compile("Hello, I am Scribe"), re.compile("garage code")])
    expect(pins.get_by_role("listitem").last).to_contain_text("Pinned by Alice")
    pins.get_by_role("listitem").last.get_by_title("Go to the message").tap()
    expect(pins).to_be_hidden()
    expect(find_message(bob, "The garage code is 4711.")).to_be_in_viewport()

    # Bob unpins it there; Alice's list, which is open, follows.
    find_pins_button(alice, 2).click()
    open_pins = alice.page.get_by_role("dialog", name="Pinned messages").get_by_role("listitem")
    expect(open_pins).to_have_count(2)
    find_pins_button(bob, 2).tap()
    pins.get_by_role("listitem").last.get_by_role("button", name="Unpin").tap()
    expect(open_pins).to_have_count(1)
    expect(find_message(alice, "The garage code is 4711.").get_by_role("img", name="Pinned by you")).to_have_count(0)


def test_two_people_react_to_a_message(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    join_by_link(alice, bob, "suggester")
    bob.sees("Hello, I am Scribe.")
    alice.post("Shall we leave on Friday? @bob say so")
    bob.sees("Shall we leave on Friday?")
    seen_by_alice = find_message(alice, "Shall we leave on Friday?")
    seen_by_bob = find_message(bob, "Shall we leave on Friday?")

    # Bob reacts on the phone by a long press. Alice sees it at once, and nothing waits to be read.
    seen_by_bob.dispatch_event("pointerdown", {"pointerType": "touch"})
    seen_by_bob.get_by_role("button", name="👍", exact=True).tap()
    expect(seen_by_alice.get_by_role("button", name="👍 1, Bob")).to_be_visible()

    # Alice agrees by a click on it, adds another emoji by the keyboard, and takes that back.
    seen_by_alice.get_by_role("button", name="👍 1, Bob").click()
    expect(seen_by_bob.get_by_role("button", name="👍 2, You and Alice")).to_be_visible()
    seen_by_alice.focus()
    alice.page.keyboard.press("+")
    expect(alice.page.get_by_role("dialog", name="React")).to_be_visible()
    alice.page.keyboard.press("5")
    expect(seen_by_bob.get_by_role("button", name="🎉 1, Alice")).to_be_visible()
    own = seen_by_alice.get_by_role("button", name="🎉 1, You")
    expect(own).to_have_attribute("aria-pressed", "true")
    own.click()
    expect(seen_by_bob.get_by_role("button", name="🎉 1, Alice")).to_have_count(0)
    expect(alice.log.get_by_role("article")).to_have_count(2)

    # Both find them after a reload.
    bob.page.reload()
    expect(seen_by_bob.get_by_role("button", name="👍 2, You and Alice")).to_have_attribute("aria-pressed", "true")


def test_an_editor_reads_what_was_wrong_with_an_answer(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    model.script(text="For twelve adults the group fare holds.")
    start(alice, model)
    join_by_link(alice, bob, "suggester")
    bob.sees("Hello, I am Scribe.")
    alice.post("@scribe fares for 14 people, please")
    bob.sees("For twelve adults the group fare holds.")

    # Bob opens the toolbar of the answer by a long press. The thumb counts before he has written anything.
    answer = find_message(bob, "For twelve adults")
    answer.dispatch_event("pointerdown", {"pointerType": "touch"})
    answer.get_by_role("button", name="Bad answer", exact=True).tap()
    counted = find_message(alice, "For twelve adults").get_by_role("img", name="Bad answer: Bob")
    expect(counted).to_be_visible()
    bob.page.get_by_role("textbox", name="What was wrong?").fill("Priced 12, we are 14")
    bob.page.get_by_role("button", name="Wrong fact").tap()
    bob.page.get_by_role("form", name="What was wrong?").get_by_role("button", name="Send").tap()
    bob.sees("You: Wrong fact · Priced 12, we are 14")

    # Alice finds it good by the keyboard, and takes that back.
    find_message(alice, "For twelve adults").focus()
    alice.page.keyboard.press("y")
    expect(answer.get_by_role("img", name="Good answer: Alice")).to_be_visible()
    alice.page.keyboard.press("y")
    expect(answer.get_by_role("img", name="Good answer: Alice")).to_have_count(0)

    # As an editor she reads it on the page of the agent, and goes to the answer.
    alice.open(re.sub(r".*(/w/[^/]+).*", r"\1/agents", alice.page.url))
    alice.page.locator('a[href*="/agents/"]', has_text="Scribe").first.click()
    alice.page.get_by_role("link", name="Feedback", exact=True).click()
    thumb = alice.page.get_by_role("listitem").filter(has_text="Priced 12, we are 14")
    expect(thumb).to_contain_text("Wrong fact")
    expect(thumb).to_contain_text("For twelve adults the group fare holds.")
    thumb.get_by_title("Go to the message").click()
    expect(find_message(alice, "For twelve adults")).to_be_in_viewport()


def test_two_people_ask_for_another_answer_and_choose_the_one_in_use(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    join_by_link(alice, bob, "suggester")
    bob.sees("Hello, I am Scribe.")
    model.script(text="For twelve adults the group fare holds.")
    alice.post("@scribe fares for 14 people, please")
    bob.sees("For twelve adults the group fare holds.")

    # Alice asks for another answer by the key. It takes the place of the first one, for both.
    model.script(text="For fourteen the group fare is TWD 137,760.")
    find_message(alice, "For twelve adults").focus()
    alice.page.keyboard.press("a")
    for person in (alice, bob):
        answer = find_message(person, "For fourteen the group fare")
        expect(answer).to_contain_text("2 of 2")
        expect(find_message(person, "For twelve adults")).to_have_count(0)

    # She goes back by the key; Bob still sees the second one.
    find_message(alice, "For fourteen").focus()
    alice.page.keyboard.press("[")
    first = find_message(alice, "For twelve adults")
    expect(first).to_contain_text("1 of 2")
    expect(first).to_contain_text("not in use")
    expect(find_message(bob, "For fourteen")).to_be_visible()

    # She uses the first one: Bob sees it, with a line that says so.
    first.get_by_role("button", name="Use this one").click()
    expect(find_message(bob, "For twelve adults")).to_contain_text("1 of 2")
    bob.sees("Alice chose another answer of Scribe")
    expect(first.get_by_text("not in use")).to_have_count(0)

    # The agent reads the first one.
    model.script(text="Then it is TWD 118,080.")
    alice.post("@scribe and for twelve?")
    bob.sees("Then it is TWD 118,080.")
    read = str(model.requests[-1].body["messages"])
    assert "For twelve adults" in read
    assert "For fourteen" not in read

    # Bob asks for a third one on the phone, which fails; the one in use stays.
    model.script(mode="status", status=401)
    answer = find_message(bob, "For twelve adults")
    answer.dispatch_event("pointerdown", {"pointerType": "touch"})
    answer.get_by_role("button", name="Another answer", exact=True).tap()
    expect(bob.log.get_by_role("article").filter(has_text="3 of 3")).to_contain_text("Retry")
    expect(find_message(alice, "For twelve adults")).to_contain_text("1 of 3")


def test_people_edit_and_delete_messages(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    model.script(text="For twelve adults the group fare holds.", times=1)
    start(alice, model)
    join_by_link(alice, bob, "suggester")
    bob.sees("Hello, I am Scribe.")
    bob.page.get_by_placeholder(re.compile("^Message ")).fill("@Scribe fares for a group of 12 people, please")
    bob.page.get_by_role("button", name="Send", exact=True).tap()
    alice.sees("For twelve adults the group fare holds.")

    # Bob edits his message on the phone: by a long press and the sheet. Alice sees it at once, and what the edit has changed.
    asked = find_message(bob, "fares for a group")
    asked.dispatch_event("pointerdown", {"pointerType": "touch"})
    asked.get_by_role("button", name="Edit", exact=True).tap()
    form = bob.page.get_by_role("textbox", name="Edit message")
    expect(form).to_have_value("@Scribe fares for a group of 12 people, please")
    form.fill("@Scribe fares for a group of 14 people, please")
    bob.page.get_by_role("button", name="Save", exact=True).tap()
    expect(form).to_have_count(0)
    edited = find_message(alice, "fares for a group of 14 people")
    edited.get_by_role("button", name="edited", exact=True).click()
    expect(edited.get_by_role("list", name="What the edit changed")).to_contain_text("12 people")

    # The answer says that it is about the earlier text, and the agent answers the present one.
    answer = find_message(alice, "For twelve adults")
    expect(answer).to_contain_text("Answers the earlier text, before Bob’s edit.")
    model.script(text="For fourteen people the fare is 137,760.")
    answer.get_by_role("button", name="Answer again").click()
    bob.sees("For fourteen people the fare is 137,760.")
    assert "group of 14 people" in str(model.requests[-1].body)
    expect(answer.get_by_role("button", name="Answer again")).to_have_count(0)

    # Alice corrects her last message from the empty composer.
    alice.post("The garage code is 4711.")
    bob.sees("The garage code is 4711.")
    composer = alice.page.get_by_role("textbox", name=re.compile("^Message "))
    composer.press("ArrowUp")
    form = alice.page.get_by_role("textbox", name="Edit message")
    expect(form).to_be_focused()
    form.fill("The garage code is 4712.")
    form.press("Enter")
    bob.sees("The garage code is 4712.")

    # She deletes it by the keyboard, and undoes that; then she deletes it for good. Bob cannot read it any more, she can.
    code = find_message(alice, "The garage code is 4712.")
    code.press("Delete")
    toast = alice.page.locator("li", has_text="Message deleted for everyone")
    toast.hover()
    toast.get_by_role("button", name="Undo", exact=True).click()
    expect(code).to_be_visible()
    code.press("Delete")
    toast.hover()
    with alice.page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        toast.get_by_role("button", name="Dismiss", exact=True).click()
    assert deleted.value.ok, deleted.value.text()
    bob.sees("Alice deleted a message")
    expect(find_message(bob, "The garage code")).to_have_count(0)
    expect(bob.page.get_by_role("button", name="Show the text")).to_have_count(0)
    alice.page.get_by_role("button", name="Show the text").click()
    alice.sees("The garage code is 4712.")
