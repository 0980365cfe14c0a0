"""What actors tell the apps above them; who listens, and in which order, is in `config/hooks.py`."""

from actors.models import Actor
from common.hooks import CollectingHook, Hook

# A person is about to be stored under another name or avatar: what shows them shows the new one. Before the person's row is
# taken, because chats come first in every order of locks.
renamed: Hook[[Actor]] = Hook("renamed")
# Somebody wants to sign up with the token of an invite link; listeners return whether it lets a new person in.
invitation_read: CollectingHook[[str], bool] = CollectingHook("invitation_read")
