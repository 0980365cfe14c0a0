/** Detects the language of a text where fonts or speech depend on it: shared characters differ between regions. */

const onlySimplified = new Set(
  '这个们时说国对会来过还没么样现问题为从东开关发后经给让请谁虽难进远运边达选连传动专两严丧临举义乐习书买乱争于亏亚产亲亿仅仓价众优伤伦伪体余侧侨俭债倾偿储儿党兰兴养兽内冈册写军农决况冻净减凑',
)
const onlyTraditional = new Set(
  '這個們時說國對會來過還沒麼樣現問題為從東開關發後經給讓請誰雖難進遠運邊達選連傳動專兩嚴喪臨舉義樂習書買亂爭於虧亞產親億僅倉價眾優傷倫偽體餘側僑儉債傾償儲兒黨蘭興養獸內岡冊寫軍農決況凍淨減湊',
)

/**
 * Returns a BCP 47 tag for the script of a text; undefined if the language of the page applies. A text in a script that many
 * languages share is of unknown language (`lang=""`), so that a screen reader does not read French as English.
 */
export function detectLanguage(text: string): 'zh-Hans' | 'zh-Hant' | 'ja' | 'ko' | '' | undefined {
  const start = text.slice(0, 2_000)
  if (/\p{Script=Hiragana}|\p{Script=Katakana}/u.test(start)) return 'ja'
  if (/\p{Script=Hangul}/u.test(start)) return 'ko'
  if (!/\p{Script=Han}/u.test(start)) return /\p{L}/u.test(start) ? '' : undefined
  let balance = 0
  for (const char of start) balance += Number(onlySimplified.has(char)) - Number(onlyTraditional.has(char))
  if (balance === 0) return undefined
  return balance > 0 ? 'zh-Hans' : 'zh-Hant'
}
