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
