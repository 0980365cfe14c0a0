import { expectTypeOf, it } from 'vitest'
import type { PlainTextKey, rich, t, Values } from './language'

it('requires exactly the values that a text has placeholders for', () => {
  expectTypeOf<Parameters<typeof t<'handleHint'>>[1]>().toEqualTypeOf<{ handle: string | number }>()
  expectTypeOf<Parameters<typeof t<'handle'>>>().toEqualTypeOf<[key: 'handle']>()
  expectTypeOf<Parameters<typeof rich<'emailPending'>>[1]>().toEqualTypeOf<{ email: string | number }>()
})

it('requires the count of a plural text, even without a placeholder for it', () => {
  expectTypeOf<Values<'usedTokens'>>().toEqualTypeOf<{ count: number; n: string | number }>()
})

it('requires the values of every text in a union of keys', () => {
  expectTypeOf<Values<'handle' | 'handleHint'>>().toEqualTypeOf<{ handle: string | number }>()
  expectTypeOf<'handle'>().toExtend<PlainTextKey>()
  expectTypeOf<'handleHint'>().not.toExtend<PlainTextKey>()
})
