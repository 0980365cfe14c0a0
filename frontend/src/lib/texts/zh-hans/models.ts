/** The texts about who pays for a model, and about the own models of people, in Simplified Chinese. */
const models = {
  'settings.ownModel': '你的模型',
  ownModelLead:
    '有了自己的密钥，你所问的 Agent 会在允许的工作区用你的模型回答，费用由你承担。你的服务器会收到那些聊天室的文字。',
  ownModelSaved: '已保存。在允许的地方，Agent 从下一次回答你起使用它。',
  ownModelDelete: '删除你的模型',
  ownModelDeleteTitle: '删除你的模型与密钥？',
  ownModelDeleteEffects: '你所问的 Agent 会再次使用工作区的模型。正在使用你的模型的工作会在下一次请求前结束。',
  ownModelDeleted: '你的模型与密钥已删除。',
  ownModelForbidden: '系统管理员不允许在这里使用自己的模型。',
  settingsOwnModel: '设置 → 你的模型',
  ownModelState: '状态',
  ownModelUntested: '保存后还没有测试。',
  ownModelTested: '{{when}}测试：有回应。',
  ownModelTestFailed: '{{when}}测试：{{why}}',
  ownModelFailed: '{{when}}在工作中失败：{{why}}',
  ownModelUses: '在哪里回答',
  ownModelUsed: '用于你的请求',
  ownModelNotUsed: '没有使用，因为{{why}}。',
  whoPays: '由谁付费',
  'paysForYou.person': '你在这里的请求（{{model}}）由你自己的密钥付费。',
  'paysForYou.workspace': '你在这里的请求（{{model}}）由工作区的密钥付费。',
  'paysForYou.system': '你在这里的请求（{{model}}）由系统管理员的密钥付费。',
  'paysForYou.demo': '你在这里的请求使用演示模型，免费。',
  ownModelElsewhere: '你自己的模型不在这里回答，因为{{why}}。',
  allowOwnModels: '成员可以在这里使用自己的模型',
  allowOwnModelsHint: '成员提问所得的回答由其自己的密钥付费。其服务器会收到聊天室的文字，包括他人的，所以默认为关闭。',
  noModelOffered: '目前没有模型可以回答。请询问系统管理员。',
}

export default models
