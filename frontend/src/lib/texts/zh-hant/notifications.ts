/** The texts of the bell, in Traditional Chinese. */
const notifications = {
  unreadNote: '未讀',
  notifications: '通知',
  notificationsUnread: '通知，{{unread}} 則未讀',
  markAllRead: '全部標為已讀',
  noNotifications: '沒有新通知',
  noNotificationsHint: '有人提及你，或你的建議、合併有了進展時，會顯示在這裡。',
  moreNotifications: '更早的通知',
  newNotification_one: '{{count}} 則未讀通知',
  newNotification_other: '{{count}} 則未讀通知',
  'note.mention': '{{actor}}提及了你',
  'note.mentionIn': '{{actor}}在{{chat}}提及了你',
  'note.suggestionCreated': '{{actor}}對{{agent}}提出了建議',
  'note.suggestionAccepted': '{{actor}}採納了你對{{agent}}的建議',
  'note.suggestionRejected': '{{actor}}駁回了你對{{agent}}的建議',
  'note.suggestionReopened': '你對{{agent}}的建議重新等待審閱：{{actor}}捨棄了合併的草稿',
  'note.lockLost': '{{actor}}接手了你正在編寫的{{agent}}草稿。你的文字已保留。',
  'note.draftAsked': '{{actor}}想編寫{{agent}}的草稿',
  'note.draftAskedIn': '{{actor}}想編寫{{chat}}中{{agent}}的草稿',
  'note.draftFree': '{{agent}}的草稿已空出',
  'note.draftFreeIn': '{{chat}}中{{agent}}的草稿已空出',
  'note.mergeDone': '對{{agent}}的建議已合併：草稿已為你開啟',
  'note.mergeFailed': '對{{agent}}的建議無法合併成草稿',
  'note.inWorkspace': '於{{workspace}}',
}

export default notifications
