"""The texts of mails in each language, sending them, and the email backend for installations without a mail server."""

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
            "Hello,\n\nset a new password here:\n\n{link}\n\nThe link works once, for {hours} h. "
            "If you did not ask for it, ignore this mail: nothing has changed.\n",
        ),
        "zh-hant": (
            "設定新的 Atelier 密碼",
            "你好：\n\n請由此設定新密碼：\n\n{link}\n\n此連結只能使用一次，{hours} 小時內有效。"
            "若不是你本人要求的，請忽略這封郵件，一切都不會改變。\n",
        ),
        "zh-hans": (
            "设置新的 Atelier 密码",
            "你好：\n\n请由此设置新密码：\n\n{link}\n\n此链接只能使用一次，{hours} 小时内有效。"
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
    "changed_by_link": {
        "en": (
            "Your Atelier password was changed",
            "Hello {name},\n\na new password was just set for your account by a link. You are signed out everywhere else, and "
            "your API tokens have ended: make new ones in the settings.\n\nIf it was not you, set a new password at once "
            "with “Forgot password?” on the sign-in page.\n",
        ),
        "zh-hant": (
            "你的 Atelier 密碼已變更",
            "{name}，你好：\n\n剛剛有人以連結為你的帳號設定了新密碼。其他地方都已登出，你的 API 權杖也已失效，"
            "請在設定中重新建立。\n\n"
            "若不是你本人所為，請立即在登入頁面以「忘記密碼？」設定新密碼。\n",
        ),
        "zh-hans": (
            "你的 Atelier 密码已更改",
            "{name}，你好：\n\n刚刚有人通过链接为你的账号设置了新密码。其他地方都已登出，你的 API 令牌也已失效，"
            "请在设置中重新创建。\n\n"
            "如果不是你本人所为，请立即在登录页面用“忘记密码？”设置新密码。\n",
        ),
    },
    "confirm": {
        "en": (
            "Confirm your email for Atelier",
            "Hello,\n\nconfirm that this is your email:\n\n{link}\n\nThen you can sign in. "
            "If you did not sign up, ignore this mail.\n",
        ),
        "zh-hant": (
            "確認你的 Atelier 電子郵件",
            "你好：\n\n請確認這是你的電子郵件：\n\n{link}\n\n之後即可登入。若你沒有註冊，請忽略這封郵件。\n",
        ),
        "zh-hans": (
            "确认你的 Atelier 电子邮件",
            "你好：\n\n请确认这是你的电子邮件：\n\n{link}\n\n之后即可登录。如果你没有注册，请忽略这封邮件。\n",
        ),
    },
    "exists": {
        "en": (
            "You have an Atelier account already",
            "Hello,\n\nsomebody wanted to sign up for Atelier with your email. You have an account already: sign in "
            "with it. If you do not know your password any more, use “Forgot password?” on the sign-in page.\n\n"
            "If it was not you, ignore this mail: nothing has changed.\n",
        ),
        "zh-hant": (
            "你已有 Atelier 帳號",
            "你好：\n\n有人想用你的電子郵件註冊 Atelier。你已經有帳號，直接登入即可。若忘了密碼，"
            "請在登入頁面使用「忘記密碼？」。\n\n"
            "若不是你本人，請忽略這封郵件，一切都不會改變。\n",
        ),
        "zh-hans": (
            "你已有 Atelier 账号",
            "你好：\n\n有人想用你的电子邮件注册 Atelier。你已经有账号，直接登录即可。如果忘了密码，"
            "请在登录页面使用“忘记密码？”。\n\n"
            "如果不是你本人，请忽略这封邮件，一切都不会改变。\n",
        ),
    },
    "email_change": {
        "en": (
            "Confirm your new email for Atelier",
            "Hello,\n\nconfirm that you want to sign in with this email from now on:\n\n{link}\n\n"
            "The link works once, for {hours} h. If you did not ask for it, ignore this mail: nothing has changed.\n",
        ),
        "zh-hant": (
            "確認你的新 Atelier 電子郵件",
            "你好：\n\n請確認從現在起以此電子郵件登入：\n\n{link}\n\n此連結只能使用一次，{hours} 小時內有效。"
            "若不是你本人要求的，請忽略這封郵件，一切都不會改變。\n",
        ),
        "zh-hans": (
            "确认你的新 Atelier 电子邮件",
            "你好：\n\n请确认从现在起用此电子邮件登录：\n\n{link}\n\n此链接只能使用一次，{hours} 小时内有效。"
            "如果不是你本人要求的，请忽略这封邮件，一切都不会改变。\n",
        ),
    },
    "email_change_notice": {
        "en": (
            "Your Atelier email is about to change",
            "Hello {name},\n\nsomebody who is signed in as you and knows your password wants to sign in with another email. It "
            "changes when the new one is confirmed.\n\nIf it was not you, set a new password at once with “Forgot password?” "
            "on the sign-in page: that ends the change.\n",
        ),
        "zh-hant": (
            "你的 Atelier 電子郵件即將變更",
            "{name}，你好：\n\n有人以你的身分登入並知道你的密碼，想改用另一個電子郵件登入。新的電子郵件確認後即生效。\n\n"
            "若不是你本人所為，請立即在登入頁面以「忘記密碼？」設定新密碼，變更就會中止。\n",
        ),
        "zh-hans": (
            "你的 Atelier 电子邮件即将更改",
            "{name}，你好：\n\n有人以你的身份登录并知道你的密码，想改用另一个电子邮件登录。新的电子邮件确认后即生效。\n\n"
            "如果不是你本人所为，请立即在登录页面用“忘记密码？”设置新密码，更改就会中止。\n",
        ),
    },
    "email_changed": {
        "en": (
            "Your Atelier email was changed",
            "Hello {name},\n\nyour account now has another email: you cannot sign in with this one any more.\n\n"
            "If it was not you, write to whoever runs this installation at once.\n",
        ),
        "zh-hant": (
            "你的 Atelier 電子郵件已變更",
            "{name}，你好：\n\n你的帳號已改用另一個電子郵件，無法再以此電子郵件登入。\n\n"
            "若不是你本人所為，請立即聯絡管理此服務的人。\n",
        ),
        "zh-hans": (
            "你的 Atelier 电子邮件已更改",
            "{name}，你好：\n\n你的账号已改用另一个电子邮件，不能再用此电子邮件登录。\n\n"
            "如果不是你本人所为，请立即联系管理此服务的人。\n",
        ),
    },
}
"""The subject and body of each mail, by language. The mails that also go to emails that nobody has confirmed (`reset`,
`confirm`, `exists`, `email_change`) contain no text of the person, not even the name: otherwise people could have any text sent
to any email."""


def send(person: Actor, mail: str, language: str, *, to: str | None = None, **facts: object) -> None:
    """Send a mail of `TEXTS` to the person, or to the email `to`. `language` is for a person who has chosen none.

    Raises `OSError` if the mail server cannot be reached or refuses the mail.
    """
    to = to or person.email
    if to is None:
        raise ValueError(f"The actor {person.pk} has no email.")
    texts = TEXTS[mail]
    subject, body = texts.get(person.language or language, texts["en"])
    EmailMessage(subject, body.format(**facts), to=[to]).send()


class LoggingEmailBackend(BaseEmailBackend):
    """The email backend without a mail server (`EMAIL_URL`).

    With embedded servers it logs the mail. With other servers it only logs that a mail could not be sent, because more people
    can read the log there.
    """

    def send_messages(self, messages: Sequence[EmailMessage]) -> int:
        for message in messages:
            if settings.EMBEDDED:
                head = [f"To: {', '.join(message.to)}", f"Subject: {message.subject}", ""]
                text = "\n".join(f"  | {line}" for line in [*head, *str(message.body).splitlines()])
                logger.warning("No mail server is set (EMAIL_URL). This mail would go out:\n%s", text)
            else:
                logger.error("A mail could not be sent: no mail server is set (EMAIL_URL)")
        return len(messages)
