"""The mails that people get, in their language; and what stands in for a mail server where there is none."""

import logging
from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from actors.models import Actor

logger = logging.getLogger(__name__)

TEXTS = {
    "reset": {
        "en": (
            "Set a new password for Atelier",
            "Hello {name},\n\nset a new password here:\n\n{link}\n\nThe link works once, for {hours} h. "
            "If you did not ask for it, ignore this mail: nothing has changed.\n",
        ),
        "zh-hant": (
            "設定新的 Atelier 密碼",
            "{name}，你好：\n\n請由此設定新密碼：\n\n{link}\n\n此連結只能使用一次，{hours} 小時內有效。"
            "若不是你本人要求的，請忽略這封郵件，一切都不會改變。\n",
        ),
        "zh-hans": (
            "设置新的 Atelier 密码",
            "{name}，你好：\n\n请由此设置新密码：\n\n{link}\n\n此链接只能使用一次，{hours} 小时内有效。"
            "如果不是你本人要求的，请忽略这封邮件，一切都不会改变。\n",
        ),
    },
    "changed": {
        "en": (
            "Your Atelier password was changed",
            "Hello {name},\n\nthe password of your account was just changed, and you are signed out everywhere else. "
            "Your API tokens go on working.\n\nIf it was not you, set a new password at once with "
            "“Forgot password?” on the sign-in page, then look at your API tokens in the settings.\n",
        ),
        "zh-hant": (
            "你的 Atelier 密碼已變更",
            "{name}，你好：\n\n你帳號的密碼剛剛變更了，其他地方都已登出。你的 API 權杖仍然有效。\n\n"
            "若不是你本人所為，請立即在登入頁面以「忘記密碼？」設定新密碼，再到設定中檢查你的 API 權杖。\n",
        ),
        "zh-hans": (
            "你的 Atelier 密码已更改",
            "{name}，你好：\n\n你账号的密码刚刚更改了，其他地方都已登出。你的 API 令牌仍然有效。\n\n"
            "如果不是你本人所为，请立即在登录页面用“忘记密码？”设置新密码，再到设置中检查你的 API 令牌。\n",
        ),
    },
}
"""By mail and language: subject and body."""


def send(person: Actor, mail: str, language: str, **facts: object) -> None:
    """Send one of `TEXTS`. `language` is for a person who has chosen none. Raises `OSError` when no server takes it."""
    assert person.email is not None
    texts = TEXTS[mail]
    subject, body = texts.get(person.language or language, texts["en"])
    EmailMessage(subject, body.format(**facts), to=[person.email]).send()


class IntoTheLog(BaseEmailBackend):
    """Where no mail server is named (`EMAIL_URL`). An installation on somebody's own machine writes the mail into its
    log, to be read there; any other only says that it could not be sent: its log is read by more people.
    """

    def send_messages(self, messages: Sequence[EmailMessage]) -> int:
        for message in messages:
            if settings.EMBEDDED:
                logger.warning("No mail server is set (EMAIL_URL). This mail would go out:\n%s", _shown(message))
            else:
                logger.error("A mail could not be sent: no mail server is set (EMAIL_URL)")
        return len(messages)


def _shown(message: EmailMessage) -> str:
    head = [f"To: {', '.join(message.to)}", f"Subject: {message.subject}", ""]
    return "\n".join(f"  | {line}" for line in [*head, *str(message.body).splitlines()])
