"""The hooks of actors, which call functions of the apps above. `config/hooks.py` lists these functions."""

from actors.models import Actor
from common.hooks import CollectingHook, Hook

# Called before a person is saved with another name, handle or avatar. It is called before the person's row is locked, because
# chats are locked first.
renamed: Hook[[Actor]] = Hook("renamed")
# Called with the token of an invite link at sign-up. Listeners return whether a new person can join by the link.
invitation_read: CollectingHook[[str], bool] = CollectingHook("invitation_read")
