"""The example questions of the templates of agents, and what the demo model answers to them, in three languages.

An answer is believable and falls short in one way. The line of the improvement, added to the prompt, leads to the improved answer.
The demo model names no facts of the world: what it says rests on the question.
"""

import re
from dataclasses import dataclass

from llm.demo.rules import DemoConversation, detect_language

_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_ONE_SENTENCE = r"\b(?:one|a single)(?: short)? sentence\b|一(?:句|[個个]句子)"


@dataclass(frozen=True)
class Example:
    """A question, the answer to it, and the answer once the prompt has been improved. Without an `answer`, the demo model calls
    tools (`llm.demo.specialists`)."""

    question: str
    answer: str = ""
    improved: str = ""


@dataclass(frozen=True)
class Script:
    """The examples of a template. `label`: the improvement in a few words. `line`: the line that it adds to the prompt. `pattern`:
    finds the line, and others to the same effect. All three are empty if nothing is to be improved."""

    examples: tuple[Example, ...]
    label: str = ""
    line: str = ""
    pattern: str = ""


def _build_scripts(pattern: str = "", **texts: tuple[str, str, tuple[tuple[str, str, str], ...]]) -> dict[str, Script]:
    """Return a script in each language. `texts`: label, line and examples, by language."""
    return {
        language.replace("_", "-"): Script(
            tuple(Example(*example) for example in examples), label=label, line=line, pattern=pattern
        )
        for language, (label, line, examples) in texts.items()
    }


def _build_questions(en: str, zh_hant: str, zh_hans: str) -> dict[str, Script]:
    """Return a question in each language that the demo model answers with tools."""
    return {
        language: Script((Example(question),))
        for language, question in (("en", en), ("zh-hant", zh_hant), ("zh-hans", zh_hans))
    }


SCRIPTS: dict[str, dict[str, Script]] = {
    "scribe": _build_scripts(
        _ONE_SENTENCE,
        en=(
            "Make it one sentence",
            "- Answer in one sentence.",
            (
                (
                    "Customers ask what our refund policy is. Write an answer: refunds within 30 days with a receipt, shipping"
                    " not refunded.",
                    "Thank you for asking about refunds. Here is how it works:\n\n- You can return your purchase within 30 days.\n"
                    "- Please include the receipt.\n- Shipping is not refunded.\n\nDo write to us if anything is unclear.",
                    "You can return your purchase within 30 days with the receipt; shipping is not refunded.",
                ),
                (
                    "Write a note to the team: the office moves on 1 March, boxes are in the kitchen, label them with your name.",
                    "Hello everybody,\n\nour move is getting closer, so here is what you need to know:\n\n- We move on 1 March.\n"
                    "- You find boxes in the kitchen.\n- Please write your name on each of them.\n\nThank you for your help!",
                    "We move on 1 March: please take boxes from the kitchen and write your name on each.",
                ),
            ),
        ),
        zh_hant=(
            "改成一句話",
            "- 用一句話回答。",
            (
                (
                    "客人詢問退款政策，請寫一段回覆：30 天內憑收據可退款，運費不退。",
                    "感謝您詢問退款事宜，說明如下：\n\n- 購買後 30 天內可以退貨。\n- 請附上收據。\n- 運費恕不退還。\n\n"
                    "如有任何不清楚的地方，歡迎再與我們聯絡。",
                    "購買後 30 天內憑收據可退款，運費恕不退還。",
                ),
                (
                    "寫一則通知給團隊：3 月 1 日搬辦公室，紙箱在茶水間，請寫上自己的名字。",
                    "各位同事好：\n\n搬遷的日子快到了，請留意以下幾點：\n\n- 3 月 1 日搬辦公室。\n- 紙箱放在茶水間。\n"
                    "- 請在每個箱子寫上自己的名字。\n\n感謝大家配合！",
                    "我們 3 月 1 日搬辦公室，請到茶水間拿紙箱，並寫上自己的名字。",
                ),
            ),
        ),
        zh_hans=(
            "改成一句话",
            "- 用一句话回答。",
            (
                (
                    "客人询问退款政策，请写一段回复：30 天内凭收据可退款，运费不退。",
                    "感谢您询问退款事宜，说明如下：\n\n- 购买后 30 天内可以退货。\n- 请附上收据。\n- 运费恕不退还。\n\n"
                    "如有任何不清楚的地方，欢迎再与我们联系。",
                    "购买后 30 天内凭收据可退款，运费恕不退还。",
                ),
                (
                    "写一则通知给团队：3 月 1 日搬办公室，纸箱在茶水间，请写上自己的名字。",
                    "各位同事好：\n\n搬迁的日子快到了，请留意以下几点：\n\n- 3 月 1 日搬办公室。\n- 纸箱放在茶水间。\n"
                    "- 请在每个箱子写上自己的名字。\n\n感谢大家配合！",
                    "我们 3 月 1 日搬办公室，请到茶水间拿纸箱，并写上自己的名字。",
                ),
            ),
        ),
    ),
    "support": _build_scripts(
        r"\b(?:one|two|2)(?: short)? sentences?\b|[一兩两二]句",
        en=(
            "Make it two sentences",
            "- Answer in at most two sentences.",
            (
                (
                    "A customer writes: “My order 4711 has not arrived.” Write the answer.",
                    "Hello, thank you for writing to us. I am sorry that your order 4711 has not arrived yet, and I understand that"
                    " waiting is annoying. Parcels are sometimes held up on their way. A colleague will look into it and ask the"
                    " carrier where it is. Please also check whether a neighbour has taken it. We will write to you as soon as we"
                    " know more. Thank you for your patience!",
                    "I am sorry that your order 4711 has not arrived yet. A colleague will ask the carrier where it is and write"
                    " to you.",
                ),
                (
                    "A customer asks: “Can I change the address of my order?” We can, until it is sent. Write the answer.",
                    "Hello, thank you for your question. Yes, that is possible in many cases. What matters is whether the parcel"
                    " has been sent. Until then, we can change the address for you. After that, we no longer can. Please send us"
                    " the number of your order and the new address, and we will take care of it. Have a nice day!",
                    "Yes, we can change the address until your order is sent. Please send us the number of the order and the new"
                    " address.",
                ),
            ),
        ),
        zh_hant=(
            "縮成兩句話",
            "- 最多用兩句話回答。",
            (
                (
                    "客人寫道：「我的訂單 4711 還沒到。」請寫回覆。",
                    "您好，感謝您的來信。很抱歉您的訂單 4711 還沒有送達，我們了解等待的心情。包裹有時會在途中延誤。"
                    "同事會協助查詢，並向物流公司確認包裹在哪裡。也請您看看是否由鄰居代收。有任何消息，我們會立即通知您。"
                    "感謝您耐心等候！",
                    "很抱歉您的訂單 4711 還沒有送達。同事會向物流公司查詢，並儘快回覆您。",
                ),
                (
                    "客人問：「可以更改訂單的地址嗎？」出貨前都可以。請寫回覆。",
                    "您好，感謝您的詢問。許多情況下是可以的。關鍵在於包裹是否已經寄出。出貨之前，我們可以為您更改地址。"
                    "出貨之後就無法更改了。請提供訂單編號和新地址，我們會為您處理。祝您有美好的一天！",
                    "出貨前都可以更改地址。請提供訂單編號和新地址，我們會為您處理。",
                ),
            ),
        ),
        zh_hans=(
            "缩成两句话",
            "- 最多用两句话回答。",
            (
                (
                    "客人写道：“我的订单 4711 还没到。”请写回复。",
                    "您好，感谢您的来信。很抱歉您的订单 4711 还没有送达，我们理解等待的心情。包裹有时会在途中延误。"
                    "同事会协助查询，并向物流公司确认包裹在哪里。也请您看看是否由邻居代收。有任何消息，我们会立即通知您。"
                    "感谢您耐心等候！",
                    "很抱歉您的订单 4711 还没有送达。同事会向物流公司查询，并尽快回复您。",
                ),
                (
                    "客人问：“可以更改订单的地址吗？”发货前都可以。请写回复。",
                    "您好，感谢您的询问。许多情况下是可以的。关键在于包裹是否已经寄出。发货之前，我们可以为您更改地址。"
                    "发货之后就无法更改了。请提供订单编号和新地址，我们会为您处理。祝您有美好的一天！",
                    "发货前都可以更改地址。请提供订单编号和新地址，我们会为您处理。",
                ),
            ),
        ),
    ),
    "operations": _build_scripts(
        r"\bchecklist\b|[檢检]查清[單单]|待[辦办]清[單单]|核[對对]清[單单]",
        en=(
            "Make it a checklist",
            "- Write steps as a checklist, with who does each.",
            (
                (
                    "Plan Friday's delivery: Mei packs by 10, Tom checks the papers, the truck leaves at 12.",
                    "On Friday, Mei packs the goods until 10 o'clock, after which Tom checks the papers, so that all is ready when"
                    " the truck leaves at 12. Whoever is late should tell the others, because the truck does not wait.",
                    "- [ ] Mei: pack the goods, by 10:00\n- [ ] Tom: check the papers, before 12:00\n- [ ] Truck leaves at 12:00",
                ),
                (
                    "What has to be done when somebody starts on Monday? A laptop from IT, a key from the front desk, lunch with"
                    " the team.",
                    "When somebody starts on Monday, IT should have a laptop ready and the front desk a key, and the team should"
                    " keep lunch free, since eating together is the easiest way to get to know each other.",
                    "- [ ] IT: hand out a laptop\n- [ ] Front desk: hand out a key\n- [ ] Team: have lunch together",
                ),
            ),
        ),
        zh_hant=(
            "改成檢查清單",
            "- 步驟寫成檢查清單，並註明由誰負責。",
            (
                (
                    "安排週五的出貨：小美 10 點前打包，阿湯核對文件，貨車 12 點出發。",
                    "週五由小美在 10 點前完成打包，接著阿湯核對文件，這樣貨車 12 點出發時一切就緒。"
                    "如果有人趕不上，請先告訴其他人，因為貨車不會等。",
                    "- [ ] 小美：10:00 前打包\n- [ ] 阿湯：12:00 前核對文件\n- [ ] 貨車 12:00 出發",
                ),
                (
                    "新同事週一報到要準備什麼？資訊部發筆電，櫃檯給鑰匙，團隊一起吃午餐。",
                    "新同事週一報到時，資訊部要先備好筆電，櫃檯要備好鑰匙，團隊也請空出午餐時間，"
                    "因為一起吃飯最容易認識彼此。",
                    "- [ ] 資訊部：發筆電\n- [ ] 櫃檯：給鑰匙\n- [ ] 團隊：一起吃午餐",
                ),
            ),
        ),
        zh_hans=(
            "改成检查清单",
            "- 步骤写成检查清单，并注明由谁负责。",
            (
                (
                    "安排周五的发货：小美 10 点前打包，阿汤核对文件，货车 12 点出发。",
                    "周五由小美在 10 点前完成打包，接着阿汤核对文件，这样货车 12 点出发时一切就绪。"
                    "如果有人赶不上，请先告诉其他人，因为货车不会等。",
                    "- [ ] 小美：10:00 前打包\n- [ ] 阿汤：12:00 前核对文件\n- [ ] 货车 12:00 出发",
                ),
                (
                    "新同事周一报到要准备什么？IT 部发笔记本电脑，前台给钥匙，团队一起吃午饭。",
                    "新同事周一报到时，IT 部要先备好笔记本电脑，前台要备好钥匙，团队也请空出午饭时间，"
                    "因为一起吃饭最容易认识彼此。",
                    "- [ ] IT 部：发笔记本电脑\n- [ ] 前台：给钥匙\n- [ ] 团队：一起吃午饭",
                ),
            ),
        ),
    ),
    "translator": _build_scripts(
        r"\bone version\b|\bonly (?:the )?polite\b|\bpolite (?:one|version) only\b|只[給给]?一[個个種种]版本|有[禮礼]貌的[說说]法",
        en=(
            "Only the polite version",
            "- Give only one version, the polite one.",
            (
                (
                    "Translate: We are sorry, the tickets are sold out.",
                    "1. 非常抱歉，票已售完。（正式）\n2. 不好意思，票賣光了。（口語）",
                    "非常抱歉，票已售完。",
                ),
                (
                    "Translate: Could you send us the invoice by Friday?",
                    "1. 麻煩您在星期五前把發票寄給我們。（正式）\n2. 星期五前把發票寄來好嗎？（口語）",
                    "麻煩您在星期五前把發票寄給我們。",
                ),
            ),
        ),
        zh_hant=(
            "只給有禮貌的版本",
            "- 只給一個版本，用有禮貌的說法。",
            (
                (
                    "翻譯：很抱歉，票已經賣完了。",
                    "1. We are very sorry, the tickets are sold out. (formal)\n2. Sorry, no tickets left. (casual)",
                    "We are very sorry, the tickets are sold out.",
                ),
                (
                    "翻譯：可以在星期五前把發票寄給我們嗎？",
                    "1. Could you please send us the invoice by Friday? (formal)\n2. Send us the invoice by Friday, okay? (casual)",
                    "Could you please send us the invoice by Friday?",
                ),
            ),
        ),
        zh_hans=(
            "只给有礼貌的版本",
            "- 只给一个版本，用有礼貌的说法。",
            (
                (
                    "翻译：很抱歉，票已经卖完了。",
                    "1. We are very sorry, the tickets are sold out. (formal)\n2. Sorry, no tickets left. (casual)",
                    "We are very sorry, the tickets are sold out.",
                ),
                (
                    "翻译：可以在星期五前把发票寄给我们吗？",
                    "1. Could you please send us the invoice by Friday? (formal)\n2. Send us the invoice by Friday, okay? (casual)",
                    "Could you please send us the invoice by Friday?",
                ),
            ),
        ),
    ),
    "reviewer": _build_scripts(
        r"\bonly (?:name )?the (?:one|first|most important)\b|只[說说提]最重要",
        en=(
            "Only what matters most",
            "- Name only the one change that matters most.",
            (
                (
                    "Review this: “We would be pleased if you could possibly consider visiting our new shop at some point.”",
                    "Say when: “at some point” gives no reason to come.\n\n- Cut “possibly consider”: “visit our new shop”.\n- “We"
                    " would be pleased” says nothing: leave it out.\n- Name the address.\n- End with what there is to see.\n\nIt is"
                    " polite, which is good.",
                    "Say when, and cut the rest: “Visit our new shop on Saturday.”",
                ),
                (
                    "Review this plan: build the website in two weeks, test it on the last day, launch on Friday evening.",
                    "Do not test on the last day: then nothing can be mended.\n\n- Launch on a morning, when somebody is there.\n-"
                    " Say who tests.\n- Name what may be left out.\n- Keep a day in reserve.\n\nThe plan is short, which is good.",
                    "Test from the first week on: on the last day nothing can be mended.",
                ),
            ),
        ),
        zh_hant=(
            "只說最重要的",
            "- 只說最重要的一處修改。",
            (
                (
                    "請審閱：「如果您方便的話，我們會很高興您能考慮找個時間來參觀我們的新店。」",
                    "先寫明時間：「找個時間」沒有讓人來的理由。\n\n- 刪去「能考慮」：直接說「來參觀新店」。\n"
                    "- 「我們會很高興」沒有內容，可以省略。\n- 寫上地址。\n- 最後說明有什麼可看。\n\n語氣有禮貌，這點很好。",
                    "寫明時間，其餘刪去：「星期六來參觀我們的新店。」",
                ),
                (
                    "請審閱這個計畫：兩週做好網站，最後一天測試，週五晚上上線。",
                    "不要最後一天才測試：那時什麼都來不及改。\n\n- 選早上上線，有人在場。\n- 寫明由誰測試。\n"
                    "- 列出可以先不做的部分。\n- 預留一天。\n\n計畫很簡短，這點很好。",
                    "從第一週就開始測試：最後一天什麼都來不及改。",
                ),
            ),
        ),
        zh_hans=(
            "只说最重要的",
            "- 只说最重要的一处修改。",
            (
                (
                    "请审阅：“如果您方便的话，我们会很高兴您能考虑找个时间来参观我们的新店。”",
                    "先写明时间：“找个时间”没有让人来的理由。\n\n- 删去“能考虑”：直接说“来参观新店”。\n"
                    "- “我们会很高兴”没有内容，可以省略。\n- 写上地址。\n- 最后说明有什么可看。\n\n语气有礼貌，这点很好。",
                    "写明时间，其余删去：“星期六来参观我们的新店。”",
                ),
                (
                    "请审阅这个计划：两周做好网站，最后一天测试，周五晚上上线。",
                    "不要最后一天才测试：那时什么都来不及改。\n\n- 选早上上线，有人在场。\n- 写明由谁测试。\n"
                    "- 列出可以先不做的部分。\n- 预留一天。\n\n计划很简短，这点很好。",
                    "从第一周就开始测试：最后一天什么都来不及改。",
                ),
            ),
        ),
    ),
    "research_lead": _build_scripts(
        r"\btable\b|表格",
        en=(
            "Make it a table",
            "- Compare options in a table.",
            (
                (
                    "Compare a daily and a weekly meeting for a team of six.",
                    "For most teams of six, one weekly meeting is enough. A daily meeting finds problems within a day, but costs"
                    " everybody time each morning. A weekly one costs less and leaves room for longer subjects, but a problem can"
                    " wait for days. I have looked nothing up: this follows from the question alone.",
                    "| | daily | weekly |\n|---|---|---|\n| a problem waits | up to a day | up to a week |\n| time | a little each"
                    " day | more at once |\n| good for | urgent work | longer subjects |\n\nI have looked nothing up: this follows"
                    " from the question alone.",
                ),
                (
                    "Compare writing a manual and making short videos for new colleagues.",
                    "A manual is the better start. It can be searched and is quick to correct, but few people read it from front to"
                    " back. Videos show how a thing is done and are easy to follow, but each change means filming again. I have"
                    " looked nothing up: this follows from the question alone.",
                    "| | manual | videos |\n|---|---|---|\n| to find something | search | watch |\n| to correct it | edit a line"
                    " | film again |\n| good for | rules, details | steps, first days |\n\nI have looked nothing up: this follows"
                    " from the question alone.",
                ),
            ),
        ),
        zh_hant=(
            "改成表格",
            "- 用表格比較各個選項。",
            (
                (
                    "比較六人團隊每天開會和每週開會。",
                    "對大多數六人團隊來說，每週開一次會就夠了。每天開會能在一天內發現問題，但每天早上都占用大家的時間。"
                    "每週開會花的時間較少，也能談較長的議題，但問題可能擱置好幾天。我沒有查找資料：這些只是從問題推論出來的。",
                    "| | 每天 | 每週 |\n|---|---|---|\n| 問題擱置 | 最多一天 | 最多一週 |\n| 時間 | 每天一點 | 一次較多 |\n"
                    "| 適合 | 緊急的工作 | 較長的議題 |\n\n我沒有查找資料：這些只是從問題推論出來的。",
                ),
                (
                    "為新同事準備資料：比較撰寫手冊和拍攝短片。",
                    "先寫手冊比較好。手冊可以搜尋，修改也快，但很少人從頭讀到尾。短片能示範做法，容易跟著做，但每次更動都要重拍。"
                    "我沒有查找資料：這些只是從問題推論出來的。",
                    "| | 手冊 | 短片 |\n|---|---|---|\n| 尋找內容 | 搜尋 | 觀看 |\n| 修改 | 改一行 | 重拍 |\n"
                    "| 適合 | 規定、細節 | 步驟、頭幾天 |\n\n我沒有查找資料：這些只是從問題推論出來的。",
                ),
            ),
        ),
        zh_hans=(
            "改成表格",
            "- 用表格比较各个选项。",
            (
                (
                    "比较六人团队每天开会和每周开会。",
                    "对大多数六人团队来说，每周开一次会就够了。每天开会能在一天内发现问题，但每天早上都占用大家的时间。"
                    "每周开会花的时间较少，也能谈较长的议题，但问题可能搁置好几天。我没有查找资料：这些只是从问题推论出来的。",
                    "| | 每天 | 每周 |\n|---|---|---|\n| 问题搁置 | 最多一天 | 最多一周 |\n| 时间 | 每天一点 | 一次较多 |\n"
                    "| 适合 | 紧急的工作 | 较长的议题 |\n\n我没有查找资料：这些只是从问题推论出来的。",
                ),
                (
                    "为新同事准备资料：比较编写手册和拍摄短片。",
                    "先写手册比较好。手册可以搜索，修改也快，但很少人从头读到尾。短片能示范做法，容易跟着做，但每次改动都要重拍。"
                    "我没有查找资料：这些只是从问题推论出来的。",
                    "| | 手册 | 短片 |\n|---|---|---|\n| 查找内容 | 搜索 | 观看 |\n| 修改 | 改一行 | 重拍 |\n"
                    "| 适合 | 规定、细节 | 步骤、头几天 |\n\n我没有查找资料：这些只是从问题推论出来的。",
                ),
            ),
        ),
    ),
    "weather": _build_questions(
        "What will the weather be in Kyoto in the next five days?",
        "京都這幾天的天氣怎麼樣？",
        "京都这几天的天气怎么样？",
    ),
    "finance": _build_questions(
        "What do three days in Kyoto cost four people, and is it under 60,000 TWD?",
        "四個人在京都玩三天要多少錢？60,000 元以內夠嗎？",
        "四个人在京都玩三天要多少钱？60,000 元以内够吗？",
    ),
    "travel": _build_questions(
        "What is there to do in Kyoto in three days?",
        "在京都玩三天可以做什麼？",
        "在京都玩三天可以做什么？",
    ),
    "travel-lead": _build_questions(
        "Four days in Kyoto for six people under 120,000, dry weather if possible.",
        "六個人去京都四天，總價 120,000 以內，盡量挑不下雨的日子。",
        "六个人去京都四天，总价 120,000 以内，尽量挑不下雨的日子。",
    ),
    "blank": _build_scripts(
        _ONE_SENTENCE,
        en=(
            "Make it one sentence",
            "- Answer in one sentence.",
            (
                (
                    "What can you do for me?",
                    "This is what my prompt says:\n\n- {task}\n- What I do not know, I do not invent.\n- You can change all of this"
                    " in the workshop.\n\nOnce a real model is connected, it works by this prompt.",
                    "My prompt says: {task}",
                ),
            ),
        ),
        zh_hant=(
            "改成一句話",
            "- 用一句話回答。",
            (
                (
                    "你能幫我做什麼？",
                    "我的提示詞是這樣寫的：\n\n- {task}\n- 不知道的事，我不會編造。\n- 這些都可以在工坊裡更改。\n\n"
                    "連接真正的模型之後，它會依照這份提示詞工作。",
                    "我的提示詞寫著：{task}",
                ),
            ),
        ),
        zh_hans=(
            "改成一句话",
            "- 用一句话回答。",
            (
                (
                    "你能帮我做什么？",
                    "我的提示词是这样写的：\n\n- {task}\n- 不知道的事，我不会编造。\n- 这些都可以在工坊里更改。\n\n"
                    "连接真正的模型之后，它会按照这份提示词工作。",
                    "我的提示词写着：{task}",
                ),
            ),
        ),
    ),
}


def get_script(key: str, language: str) -> Script:
    """Return the script of a template; one without examples if the template has none."""
    return SCRIPTS[key][language] if key in SCRIPTS else Script(())


def _normalize(question: str) -> str:
    return "".join(char for char in question.casefold() if char.isalnum())


_SCRIPTED = {
    _normalize(example.question): (key, language, at)
    for key, scripts in SCRIPTS.items()
    for language, script in scripts.items()
    for at, example in enumerate(script.examples)
    if example.answer
}


def find_scripted_answer(conversation: DemoConversation) -> str:
    """Return the answer to an example question, in the form that the prompt asks for; empty if the question is another one."""
    found = _SCRIPTED.get(_normalize(conversation.question))
    if not found or conversation.results or conversation.is_sub_agent:
        return ""
    key, language, at = found
    if conversation.language != detect_language(conversation.question):
        language = conversation.language  # which the prompt demands
    script = SCRIPTS[key][language]
    example = script.examples[at]
    is_improved = bool(re.search(script.pattern, conversation.prompt, re.I))
    text = example.improved if is_improved else example.answer
    if conversation.max_sentences and not is_improved:
        text = _cut(text, conversation.max_sentences, language)
    task = _find_task(conversation.prompt)
    text = text.replace("{task}", _cut(task, 1, language) if is_improved else task)
    return f"{text} {conversation.closing}".strip()


def _cut(text: str, max_sentences: int, language: str) -> str:
    sentences = [part.strip() for part in _ENDS.split(text) if part and part.strip()]
    return (" " if language == "en" else "").join(sentences[:max_sentences])


def _find_task(prompt: str) -> str:
    """Return the first line of a prompt that is no heading."""
    lines = [line.strip().removeprefix("- ") for line in prompt.split("\n")]
    return next((line[:300] for line in lines if line and not line.startswith("#")), "…")


def list_questions(key: str, language: str) -> tuple[str, ...]:
    """List the example questions of a template."""
    return tuple(example.question for example in get_script(key, language).examples)
