"""What actors tell the apps above them; who listens, and in which order, is in `config/seams.py`."""

from actors.models import Actor
from common.seams import Seam

# A person is about to be stored under another name: what shows them shows the new one. Before the person's row is
# taken, because chats come first in every order of locks.
renamed: Seam[[Actor], None] = Seam("renamed")
