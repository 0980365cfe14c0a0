"""Why a file is not read. Without Django, because the process that reads a file has none."""


class UnreadableContent(Exception):
    """No text can be read from a file. `reason` is a value of `NoTextReason`."""

    reason = "damaged"


class NeedsPassword(UnreadableContent):
    """A file is encrypted."""

    reason = "password"


class TooMuchContent(UnreadableContent):
    """A file has, or unpacks to, more than is read."""

    reason = "too_large"
