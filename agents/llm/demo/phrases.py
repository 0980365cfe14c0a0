"""What the demo model says, by language. A language that lacks a phrase borrows the English one."""

PHRASES: dict[str, dict[str, list[str]]] = {
    "en": {
        "hello": ["Hello! I am {name}.", "Ask me something, or change my prompt beside this chat and see me obey."],
        "who": [
            "I am {name}, played by the demo model.",
            "I follow simple rules, run on this machine and need no key; a real model can take my place at any time.",
            "My prompt begins: “{prompt}”",
        ],
        "help": [
            "I am the demo model, so I can do a few things only.",
            "I follow simple instructions in my prompt: a language, a length, a first or last word, a role.",
            "I can do sums, repeat, count words, sum up this chat and call my tools: {tools}.",
        ],
        "thanks": ["You are welcome!"],
        "sum": ["{sum} = {result}."],
        "count": ["That is {words} words and {characters} characters."],
        "summary": ["In short: {text}"],
        "chat": ["So far in this chat: {text}"],
        "joke": ["Why did the rule-based model cross the road?", "Because a pattern matched."],
        "time": ["It is {time} on {weekday}, {date}, in {place}."],
        "page": ["I have read {source}.", "It begins: {text}"],
        "result": ["I called {tool}, and this is what it says: {result}"],
        "failed": ["I called {tool}, but it did not work: {result}"],
        "no_clock": ["I have no clock: give me the tool current_time, and I look it up."],
        "no_translation": ["I am the demo model and cannot translate “{text}”; a real model can."],
        "missing": ["I would call {tool}, but I do not know what to put for {missing}."],
        "question": [
            "You ask: “{text}”",
            "A real model would answer that; I am the demo model and only follow simple rules.",
        ],
        "statement": ["I have read: “{text}”", "I am the demo model: I follow simple rules and do not think."],
        "again": ["Noted: “{text}”"],
        "nothing": ["I am here, but there is nothing to answer yet."],
    },
    "zh-hant": {
        "hello": ["你好！我是 {name}。", "問我問題，或在聊天室旁修改我的提示詞，看我照做。"],
        "who": [
            "我是 {name}，由示範模型扮演。",
            "我依照簡單的規則，在這台機器上運作，不需要金鑰；隨時可以換成真正的模型。",
            "我的提示詞開頭是：「{prompt}」",
        ],
        "help": [
            "我是示範模型，只會幾件事。",
            "我會照提示詞裡的簡單指示做：語言、長度、開頭或結尾的字句、角色。",
            "我會算術、複誦、數字數、總結這個聊天室，也會呼叫我的工具：{tools}。",
        ],
        "thanks": ["不客氣！"],
        "sum": ["{sum} = {result}。"],
        "count": ["一共 {words} 個詞、{characters} 個字元。"],
        "summary": ["簡單說：{text}"],
        "chat": ["這個聊天室到目前為止：{text}"],
        "joke": ["為什麼規則式模型要過馬路？", "因為有一條規則符合了。"],
        "time": ["{place}現在是 {date}（{weekday}）{time}。"],
        "page": ["我讀了 {source}。", "開頭是：{text}"],
        "result": ["我呼叫了 {tool}，它說：{result}"],
        "failed": ["我呼叫了 {tool}，但沒有成功：{result}"],
        "no_clock": ["我沒有時鐘：給我 current_time 工具，我就能查。"],
        "no_translation": ["我是示範模型，不會翻譯「{text}」；真正的模型可以。"],
        "missing": ["我想呼叫 {tool}，但不知道 {missing} 要填什麼。"],
        "question": ["你問的是：「{text}」", "真正的模型會回答它；我是示範模型，只依照簡單的規則。"],
        "statement": ["我讀到了：「{text}」", "我是示範模型，只依照簡單的規則，不會思考。"],
        "again": ["記下了：「{text}」"],
        "nothing": ["我在這裡，只是還沒有要回答的內容。"],
    },
    "zh-hans": {
        "hello": ["你好！我是 {name}。", "问我问题，或在聊天室旁修改我的提示词，看我照做。"],
        "who": [
            "我是 {name}，由示范模型扮演。",
            "我依照简单的规则，在这台机器上运行，不需要密钥；随时可以换成真正的模型。",
            "我的提示词开头是：“{prompt}”",
        ],
        "help": [
            "我是示范模型，只会几件事。",
            "我会照提示词里的简单指示做：语言、长度、开头或结尾的字句、角色。",
            "我会算术、复述、数字数、总结这个聊天室，也会调用我的工具：{tools}。",
        ],
        "thanks": ["不客气！"],
        "sum": ["{sum} = {result}。"],
        "count": ["一共 {words} 个词、{characters} 个字符。"],
        "summary": ["简单说：{text}"],
        "chat": ["这个聊天室到目前为止：{text}"],
        "joke": ["为什么规则式模型要过马路？", "因为有一条规则符合了。"],
        "time": ["{place}现在是 {date}（{weekday}）{time}。"],
        "page": ["我读了 {source}。", "开头是：{text}"],
        "result": ["我调用了 {tool}，它说：{result}"],
        "failed": ["我调用了 {tool}，但没有成功：{result}"],
        "no_clock": ["我没有时钟：给我 current_time 工具，我就能查。"],
        "no_translation": ["我是示范模型，不会翻译“{text}”；真正的模型可以。"],
        "missing": ["我想调用 {tool}，但不知道 {missing} 要填什么。"],
        "question": ["你问的是：“{text}”", "真正的模型会回答它；我是示范模型，只依照简单的规则。"],
        "statement": ["我读到了：“{text}”", "我是示范模型，只依照简单的规则，不会思考。"],
        "again": ["记下了：“{text}”"],
        "nothing": ["我在这里，只是还没有要回答的内容。"],
    },
    "fr": {
        "hello": ["Bonjour ! Je suis {name}."],
        "who": ["Je suis {name}, joué par le modèle de démonstration."],
        "thanks": ["De rien !"],
        "time": ["Il est {time}, le {date}, à {place}."],
        "result": ["J'ai appelé {tool}, qui répond : {result}"],
        "question": [
            "Vous demandez : « {text} »",
            "Je suis le modèle de démonstration et je ne suis que des règles simples.",
        ],
        "statement": ["J'ai lu : « {text} »", "Je suis le modèle de démonstration."],
        "again": ["Noté : « {text} »"],
    },
    "de": {
        "hello": ["Hallo! Ich bin {name}."],
        "who": ["Ich bin {name}, gespielt vom Demo-Modell."],
        "thanks": ["Gern geschehen!"],
        "time": ["In {place} ist es {time} am {date}."],
        "result": ["Ich habe {tool} gefragt, es sagt: {result}"],
        "question": ["Sie fragen: „{text}“", "Ich bin das Demo-Modell und folge nur einfachen Regeln."],
        "statement": ["Gelesen: „{text}“", "Ich bin das Demo-Modell."],
        "again": ["Notiert: „{text}“"],
    },
    "es": {
        "hello": ["¡Hola! Soy {name}."],
        "who": ["Soy {name}, interpretado por el modelo de demostración."],
        "thanks": ["¡De nada!"],
        "time": ["Son las {time} del {date} en {place}."],
        "result": ["He llamado a {tool} y dice: {result}"],
        "question": ["Preguntas: «{text}»", "Soy el modelo de demostración y solo sigo reglas sencillas."],
        "statement": ["He leído: «{text}»", "Soy el modelo de demostración."],
        "again": ["Anotado: «{text}»"],
    },
    "ja": {
        "hello": ["こんにちは！{name}です。"],
        "who": ["{name}です。デモモデルが演じています。"],
        "thanks": ["どういたしまして！"],
        "time": ["{place}は今 {date} {time} です。"],
        "result": ["{tool} を呼び出しました：{result}"],
        "question": ["ご質問：「{text}」", "私はデモモデルで、簡単なルールに従うだけです。"],
        "statement": ["読みました：「{text}」", "私はデモモデルです。"],
        "again": ["了解：「{text}」"],
    },
}

WEEKDAYS = dict(
    zip(
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
        strict=True,
    )
)


def phrase(key: str, language: str, **facts: object) -> list[str]:
    """The sentences of a phrase, filled in."""
    sentences = PHRASES.get(language, {}).get(key) or PHRASES["en"][key]
    # The facts are filled in one pass: what they bring along is never read as a place to fill.
    return [sentence.format_map(facts) for sentence in sentences]
