"""In which encoding a text was saved. Needs only the standard library: the web process uses it on the beginning of an upload.

Libraries that detect encodings were measured with short texts, as the cells of a table are (docs/files.md): they take two Chinese
characters for Korean ones, and a word with one accent for Czech. The rule here is: decode in each encoding that people's programs
write, and keep the text with the most plausible characters.
"""

import codecs
import re
from collections.abc import Callable

MAX_JUDGED = 4000
"""Characters outside ASCII, from the beginning of a text, that decide its encoding."""
SURE_SCORE = 0.6
"""The average of the characters of a text from which its encoding is sure. That of a frequent character is 1."""
MIN_SCORE = -0.3
"""The least average of a text: one of rare characters, such as names, has no more."""
MAX_CONTROL_SHARE = 0.02
"""Programs and pictures have more control characters than this: every ninth byte of compressed data is one."""

_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\f\r\b\x1a\x1b"})
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LABELS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "gb18030": "GB18030",
    "cp950": "Big5",
    "big5hkscs": "Big5",
    "cp932": "Shift_JIS",
    "cp1252": "Windows-1252",
    "cp1251": "Windows-1251",
}
"""What people call these encodings of Python."""

_SIMPLIFIED = frozenset(
    "的一是了我不在人们有来他这上着个地到大里说就去子得也和那要下看天时过出小么起你都把好还多没为又可家学只以主会样年想生同老中十从自"
    "面前头道它后然走很像见两用她国动进成回什边作对开而己些现山民候经发工向事命给长水几义三声于高手知理眼志点心战二问但身方实吃做叫当"
    "住听革打呢真全才四已所敌之最光产情路分总条白话东席次亲如被花口放儿常气五第使写军吧文运再果怎定许快明行因别飞外树物活部门往船望新"
    "带队先力完却站代员机更九您每风级跟笑啊孩万少直意夜比阶连车重便斗马哪化太指变社似士者干石满日决百原拿群究各六本思解立河村八难早论"
    "吗根共让金额款项单价客户姓名电址订货品编号期费税票据账银卡职备注规格库存销售采购合目版件错误请输入选择密码登录设置系统数列支付状"
    "态记载确认接搜索排序删除修改添加查询返印内容信息网络公司技术管服务"
)
_TRADITIONAL = frozenset(
    "的一是了我不在人們有來他這上著個地到大裡說就去子得也和那要下看天時過出小麼起你都把好還多沒為又可家學只以主會樣年想生同老中十從自"
    "面前頭道它後然走很像見兩用她國動進成回什邊作對開而己些現山民候經發工向事命給長水幾義三聲於高手知理眼志點心戰二問但身方實吃做叫當"
    "住聽革打呢真全才四已所敵之最光產情路分總條白話東席次親如被花口放兒常氣五第使寫軍吧文運再果怎定許快明行因別飛外樹物活部門往船望新"
    "帶隊先力完卻站代員機更九您每風級跟笑啊孩萬少直意夜比階連車重便鬥馬哪化太指變社似士者幹石滿日決百原拿群究各六本思解立河村八難早論"
    "嗎根共讓金額款項單價客戶姓名電址訂貨品編號期費稅票據帳銀卡職備註規格庫存銷售採購合約目版檔案錯誤請輸入選擇密碼登設系統資料列支付"
    "聯絡計臺灣議狀態紀錄載確認接搜尋排序刪除修改增查詢返印內容訊網公司技術管服務結法語"
)
_KANJI = frozenset(
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問"
    "高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期公野協取都和統以機平総"
    "加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反元重"
    "近千考判認画海参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死官増係感特情投示変打男基夜製票況音申様財港識注呼渉達署顧"
    "客請項住備番号量"
)
_SYMBOLS_OF_TABLES = frozenset("“”‘’…—·￥€×÷℃→①②③④⑤●○■□")
_SYMBOLS_OF_LETTERS = frozenset("€£¥\u00a7°©®«»“”‘’‚„–—…·•×¡¿ªº ½¼²³±™\u00a0")


def decode_text(content: bytes) -> tuple[str, str]:
    """Return a text and the name of its encoding. What cannot be decoded becomes U+FFFD."""
    encoding = _find_encoding(content, is_whole=True) or "utf-8"
    return content.decode(encoding, "replace").removeprefix("\ufeff"), _LABELS[encoding]


def is_text(head: bytes, *, is_whole: bool) -> bool:
    """Return whether the beginning of a file is text in any encoding. `is_whole`: nothing follows it."""
    return _find_encoding(head, is_whole=is_whole) is not None


def is_utf8(head: bytes, *, is_whole: bool) -> bool:
    """Return whether the beginning of a file is UTF-8 without a single error, and has hardly any control characters."""
    return not _has_controls(head) and _count_errors(head, "utf-8", is_whole=is_whole) == 0


def _find_encoding(content: bytes, *, is_whole: bool) -> str | None:
    """Return the encoding of a text as Python names it; null if the content is no text."""
    for mark, marked in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return marked
    if b"\0" in content and (utf16 := _find_utf16(content)):
        return utf16
    if _has_controls(content):
        return None
    errors = _count_errors(content, "utf-8", is_whole=is_whole)
    if errors == 0:
        return "utf-8"
    best, _, encoding = max((_score(content, encoding), -number, encoding) for number, encoding in enumerate(_JUDGES))
    # Some broken bytes do not make another encoding of a text in UTF-8.
    whole = len(re.findall(r"[^\x00-\x7f]", content.decode("utf-8", "ignore")))
    if whole >= 8 * errors or (whole > errors and best < SURE_SCORE):
        return "utf-8"
    return encoding if best >= MIN_SCORE else None


def _has_controls(content: bytes) -> bool:
    return len(content) - len(content.translate(None, _CONTROLS)) > MAX_CONTROL_SHARE * len(content)


def _find_utf16(content: bytes) -> str | None:
    """Return the byte order of UTF-16 without a mark, by the zeros of its ASCII characters, which stand at every second place."""
    if len(content) % 2:
        return None
    encoding = "utf-16-le" if content[1::2].count(0) > content[0::2].count(0) else "utf-16-be"
    text = content.decode(encoding, "replace")
    strange = len(re.findall(r"[^\t\n\f\r -\ud7ff\uf900-\ufffc\U00010000-\U0010ffff]", text))
    return encoding if strange <= MAX_CONTROL_SHARE * len(text) else None


def _count_errors(content: bytes, encoding: str, *, is_whole: bool) -> int:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    return decoder.decode(content, final=is_whole).count("\ufffd") - content.count(b"\xef\xbf\xbd")


def _score(content: bytes, encoding: str) -> float:
    """Return how plausible the characters outside ASCII are on average, in this encoding."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(content)
    judge = _JUDGES[encoding]
    total, count = 0.0, 0
    for match in re.finditer(r"[^\x00-\x7f]", text):
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        total += -3 if match[0] == "\ufffd" else judge(match[0], before, after)
        count += 1
        if count == MAX_JUDGED:
            break
    return total / count if count else 0.0


def _judge_chinese(character: str, frequent: frozenset[str], encoding: str, common: range) -> float:
    """Return how plausible a character is. `common`: the codes of the first part of the encoding, in which the common ones are."""
    if character in frequent:
        return 1
    if "一" <= character <= "\u9fff":
        return 0.5 if int.from_bytes(character.encode(encoding)) in common else -0.5
    if "\u3000" <= character <= "\u303f" or "！" <= character <= "～":
        return 0.8
    return 0.5 if character in _SYMBOLS_OF_TABLES else -1


def _judge_japanese(character: str, before: str, after: str) -> float:
    if "ぁ" <= character <= "ヾ":
        return 1
    if "｡" <= character <= "ﾟ":
        return 0.3
    return _judge_chinese(character, _KANJI, "cp932", range(0x889F, 0x9873))


def _judge_western(character: str, before: str, after: str) -> float:
    if not character.isalpha():
        return 0.6 if character in _SYMBOLS_OF_LETTERS else -0.5
    if character.isupper() and before.islower():
        return -1
    if (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha()):
        return 0.9
    return 0.4 if before.isspace() or after.isspace() else -0.1


def _judge_russian(character: str, before: str, after: str) -> float:
    if not "А" <= character <= "ё" or (before + after).encode("ascii", "ignore").isalpha():
        return -0.5
    if "А" <= before <= "ё":
        return 0.8 if character.islower() or before.isupper() else -1
    return 0.5 if "А" <= after <= "ё" else -0.3


_JUDGES: dict[str, Callable[[str, str, str], float]] = {
    "gb18030": lambda character, *_: _judge_chinese(character, _SIMPLIFIED, "gb18030", range(0xB0A1, 0xD7FF)),
    "cp950": lambda character, *_: _judge_chinese(character, _TRADITIONAL, "cp950", range(0xA440, 0xC67F)),
    "big5hkscs": lambda character, *_: _judge_chinese(character, _TRADITIONAL, "big5hkscs", range(0xA440, 0xC67F)),
    "cp932": _judge_japanese,
    "cp1252": _judge_western,
    "cp1251": _judge_russian,
}
"""For each encoding, in the order in which they win a draw: how plausible a character between its neighbours is, at most 1."""
