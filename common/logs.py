"""What may stand in a log line."""

import logging
import re

KEY_LIKE = re.compile(r"\b(sk|pk|rk|xox[a-z]|ghp|AIza)[-_A-Za-z0-9]{12,}")


class ScrubSecrets(logging.Filter):
    """Replaces what looks like an API key in every line that is logged (D17)."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        scrubbed = KEY_LIKE.sub("***", text)
        if scrubbed != text:
            record.msg, record.args = scrubbed, ()
        return True
