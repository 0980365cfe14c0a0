"""Excerpts of messages in notifications."""

from chats import services as chats
from common.ids import new_id
from notifications.models import Notification


def test_the_excerpt_of_a_mention_has_names_in_place_of_handles(team):
    team.bob.name = "王佳玲"
    team.bob.save()
    text = "@bob and @robin, ask someone@bob.example"
    chats.post_message(team.alice, team.chat.id, id=new_id(), text=text)
    assert Notification.objects.get(person=team.bob).excerpt == "@王佳玲 and @Robin, ask someone@bob.example"
