"""The hooks of actors, which call functions of the apps above. `config/hooks.py` lists these functions."""

from actors.models import Actor
from common.hooks import CollectingHook, Hook

# Called before a person is saved with another name, handle or avatar. It is called before the person's row is locked, because
# chats are locked first.
profile_changed: Hook[[Actor]] = Hook("profile_changed")
# Called after an operator has closed the account of a person: the person, then the operator.
account_closed: Hook[[Actor, Actor]] = Hook("account_closed")
# Called at sign-up with the token of an invite link. A listener returns a list with one item: whether a new person can join by
# the link.
invitation_presented: CollectingHook[[str], bool] = CollectingHook("invitation_presented")
