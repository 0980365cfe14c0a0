"""Text from outside, made fit for our house."""


def storable(text: str) -> str:
    """The text without what PostgreSQL (NUL) or UTF-8 (half of a surrogate pair) cannot hold; models do write both."""
    if text.isascii():
        return text.replace("\x00", "")
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
