/** The texts about who pays for a model, and about the own models of people, in Traditional Chinese. */
const models = {
  'settings.ownModel': '你的模型',
  ownModelLead:
    '有了自己的金鑰，你所問的 Agent 會在允許的工作區用你的模型回答，費用由你負擔。你的伺服器會收到那些聊天室的文字。',
  ownModelSaved: '已儲存。在允許的地方，Agent 從下一次回答你起使用它。',
  ownModelDelete: '刪除你的模型',
  ownModelDeleteTitle: '刪除你的模型與金鑰？',
  ownModelDeleteEffects: '你所問的 Agent 會再次使用工作區的模型。正在使用你的模型的工作會在下一次請求前結束。',
  ownModelDeleted: '你的模型與金鑰已刪除。',
  ownModelForbidden: '系統管理員不允許在這裡使用自己的模型。',
  settingsOwnModel: '設定 → 你的模型',
  ownModelState: '狀態',
  ownModelUntested: '儲存後還沒有測試。',
  ownModelTested: '{{when}}測試：有回應。',
  ownModelTestFailed: '{{when}}測試：{{why}}',
  ownModelFailed: '{{when}}在工作中失敗：{{why}}',
  ownModelUses: '在哪裡回答',
  ownModelUsed: '用於你的請求',
  ownModelNotUsed: '沒有使用，因為{{why}}。',
  whoPays: '由誰付費',
  'paysForYou.person': '你在這裡的請求（{{model}}）由你自己的金鑰付費。',
  'paysForYou.workspace': '你在這裡的請求（{{model}}）由工作區的金鑰付費。',
  'paysForYou.system': '你在這裡的請求（{{model}}）由系統管理員的金鑰付費。',
  'paysForYou.demo': '你在這裡的請求使用示範模型，免費。',
  ownModelElsewhere: '你自己的模型不在這裡回答，因為{{why}}。',
  allowOwnModels: '成員可以在這裡使用自己的模型',
  allowOwnModelsHint: '成員提問所得的回答由其自己的金鑰付費。其伺服器會收到聊天室的文字，包括他人的，所以預設為關閉。',
  noModelOffered: '目前沒有模型可以回答。請詢問系統管理員。',
}

export default models
