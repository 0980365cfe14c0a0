"""What a notification quotes is readable: names, not handles."""

from chats import services as chats
from common.ids import new_id
from notifications.models import Notification


def test_a_mention_is_quoted_with_the_names_of_all_who_are_called(team):
    team.bob.name = "王佳玲"
    team.bob.save()
    text = "@bob and @robin, ask someone@bob.example"
    chats.post_message(team.alice, team.chat.id, id=new_id(), text=text)
    assert Notification.objects.get(person=team.bob).excerpt == "@王佳玲 and @Robin, ask someone@bob.example"
