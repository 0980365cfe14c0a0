import { expectTypeOf, it } from 'vitest'
import type { PlainTextKey, rich, t, Values } from './language'

it('asks for each value that a text has a place for, and for no other', () => {
  expectTypeOf<Parameters<typeof t<'handleHint'>>[1]>().toEqualTypeOf<{ handle: string | number }>()
  expectTypeOf<Parameters<typeof t<'handle'>>>().toEqualTypeOf<[key: 'handle']>()
  expectTypeOf<Parameters<typeof rich<'emailPending'>>[1]>().toEqualTypeOf<{ email: string | number }>()
})

it('asks for the count of a text with a plural, even where it stands in no place', () => {
  expectTypeOf<Values<'usedTokens'>>().toEqualTypeOf<{ count: number; n: string | number }>()
})

it('asks for the values of every text that may be meant', () => {
  expectTypeOf<Values<'handle' | 'handleHint'>>().toEqualTypeOf<{ handle: string | number }>()
  expectTypeOf<'handle'>().toExtend<PlainTextKey>()
  expectTypeOf<'handleHint'>().not.toExtend<PlainTextKey>()
})
