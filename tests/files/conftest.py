"""Fixtures of files."""

from io import BytesIO

import pytest

from files import services as files


@pytest.fixture
def upload(team):
    """Upload a file to the chat."""

    def upload_file(content=b"hello", name="notes.txt", *, actor=None, **target):
        target = target or {"chat_id": team.chat.id}
        return files.upload_file(actor or team.bob, content=BytesIO(content), name=name, **target)[0]

    return upload_file
