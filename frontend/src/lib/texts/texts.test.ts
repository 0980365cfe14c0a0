import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import enFirst from './en'
import enLazy from './en.lazy'
import hansFirst from './zh-hans'
import hansLazy from './zh-hans.lazy'
import hantFirst from './zh-hant'
import hantLazy from './zh-hant.lazy'

const en = { ...enFirst, ...enLazy }
const hans = { ...hansFirst, ...hansLazy }
const hant = { ...hantFirst, ...hantLazy }
const languages: Record<string, Record<string, string>> = { en, 'zh-hant': hant, 'zh-hans': hans }
const placeholders = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(match => match[1]).sort()

const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../api/generated/openapi.json'), 'utf8')) as {
  components: { schemas: { Code: { enum: string[] } } }
}

/**
 * The error codes of runs: of `LLMError`, `RunNotAllowed`, `LoopEnded` and the engine, and those of `Code` that have
 * another text for runs. A run that ends with any other `Code` is shown with `error.<code>`.
 */
const failures = [
  ...['timeout_first', 'timeout_idle', 'timeout_total', 'cut', 'rate_limited', 'server', 'refused', 'not_found'],
  ...[
    'bad_request',
    'context_too_long',
    'no_tools',
    'not_listed',
    'unreachable',
    'host_refused',
    'garbled',
    'step_limit',
    'time_limit',
    'malformed_calls',
  ],
  ...[
    'tools_broken',
    'empty_answer',
    'answer_invalid',
    'crash_loop',
    'internal',
    'forbidden',
    'rights_lost',
    'no_version',
  ],
  ...['agent_taken_down', 'no_tasks', 'budget_used_up', 'price_unknown', 'llm_profile_failed', 'llm_profile_withdrawn'],
]

describe.each(Object.entries(languages))('texts in %s', (_, texts) => {
  it('exist for every key and are not empty', () => {
    expect(Object.keys(texts).sort()).toEqual(Object.keys(en).sort())
    expect(Object.entries(texts).filter(([, text]) => text.trim() === '')).toEqual([])
  })

  it('have the same placeholders', () => {
    const differing = Object.entries(en).filter(
      ([key, text]) => String(placeholders(texts[key] ?? '')) !== String(placeholders(text)),
    )
    expect(differing).toEqual([])
  })

  it('include every error code of the server', () => {
    expect(schema.components.schemas.Code.enum.filter(code => !texts[`error.${code}`])).toEqual([])
  })

  it('include every error code of runs', () => {
    expect(failures.filter(code => !texts[`run.${code}`])).toEqual([])
  })
})

describe('the files of texts', () => {
  it('share no key, because a later file would overwrite it', async () => {
    const files = readdirSync(join(import.meta.dirname, 'en')).map(file => file.replace('.ts', ''))
    const keys = await Promise.all(
      files.map(async file => Object.keys(((await import(`./en/${file}.ts`)) as { default: object }).default)),
    )
    const all = keys.flat().sort()
    expect(all.filter((key, at) => key === all[at - 1])).toEqual([])
  })
})

describe('texts in Chinese', () => {
  it('use 你, not 您, and full-width punctuation', () => {
    const all = [...Object.values<string>(hant), ...Object.values<string>(hans)]
    expect(all.filter(text => text.includes('您') || /\p{Script=Han}[,.:;?!]/u.test(text))).toEqual([])
  })
})

/** Terms that another one replaces, so that one thing has one name. The first part is what a text must not contain. */
const replacedTerms: Record<string, readonly (readonly [RegExp, string])[]> = {
  en: [
    [/\banew…/, 'again'],
    [/through the eyes/, 'You see what … sees'],
    [/\bwithout waking\b|\bDon't wake\b|\bsteers?\b/i, "Post only, Don't ask, Tell … while it works"],
  ],
  'zh-hant': [
    [/工作坊/, '工坊'],
    [/(?<!相)同意(?!才開始|。留空)/, '核准'],
    [/營運者|安裝環境|(?<!系統)管理員/, '系統管理員'],
    [/(?<!開始|看不到他們的)聊天(?!室)/, '聊天室'],
    [/比較兩個版本|的比較/, '對照'],
    [/等候/, '等待'],
    [/保存/, '保留'],
    [/代號/, '使用者名稱'],
    [/cron）/, '時間'],
    [/不喚醒|插話/, '只發訊息'],
    [/用戶|信息|視頻|軟件|默認|網絡|服務器|質量|支持/, 'the term of Taiwan'],
  ],
  'zh-hans': [
    [/工作坊/, '工坊'],
    [/运营者|安装环境|(?<!系统)管理员/, '系统管理员'],
    [/(?<!开始|看不到他们的)聊天(?!室)/, '聊天室'],
    [/使用者/, '用户'],
    [/设定/, '设置'],
    [/代号/, '用户名'],
    [/不唤醒|插话/, '只发消息'],
    [/软体|网路|伺服器|资讯|萤幕|预设/, 'the term of the mainland'],
  ],
}

it.each(Object.entries(replacedTerms))('texts in %s use the terms that were chosen', (language, terms) => {
  const texts = Object.entries(languages[language] ?? {})
  const found = terms.flatMap(([term, instead]) =>
    texts.filter(([, text]) => term.test(text)).map(([key, text]) => `${key}: ${text} (${instead})`),
  )
  expect(found).toEqual([])
})

it('texts in Chinese leave the space beside a name to the rule of spacing', () => {
  const all = [...Object.entries(hant), ...Object.entries(hans)]
  const name = '\\{\\{(?:actor|agent|authors|targets?|person)\\}\\}'
  const spaced = new RegExp(`\\p{Script=Han} ${name}|${name} \\p{Script=Han}`, 'u')
  expect(all.filter(([, text]) => spaced.test(text))).toEqual([])
})
