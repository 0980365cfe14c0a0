/** The texts of what people think of answers, in Traditional Chinese. */
const thumbs = {
  'agentTab.thumbs': '評價',
  'thumbs.whatWasWrong': '哪裡不對？',
  'thumbs.reason.wrong_fact': '內容有誤',
  'thumbs.reason.not_as_asked': '沒照要求做',
  'thumbs.reason.too_long': '太長',
  'thumbs.whoReads': '能閱讀此聊天室的編輯者會看到，並附上回答與版本。',
  'thumbs.goodBy': '認為回答得好：{{names}}',
  'thumbs.badBy': '認為回答不好：{{names}}',
  'thumbs.own': '你：{{words}}',
  'thumbs.sayWhy': '說明哪裡不對',
  'thumbs.change': '變更',
  'thumbs.which': '哪些回答',
  'thumbs.all': '好與不好',
  'thumbs.up': '好',
  'thumbs.down': '不好',
  'thumbs.counts': '好 {{up}} · 不好 {{down}}',
  'thumbs.unreadable': '在你無法閱讀的聊天室：{{n}}',
  'thumbs.none': '還沒有人評價過{{name}}的回答。',
  'thumbs.noneHere': '你能閱讀的聊天室裡沒有。',
  'thumbs.more': '顯示更多',
}

export default thumbs
