import { afterAll, expect, it } from 'vitest'
import { currentLanguage, getChosenLanguage, setLanguage } from './language'

afterAll(() => setLanguage('en'))

it('shows and stores the language that was chosen last, whichever is loaded first', async () => {
  await setLanguage('zh-hans')
  const first = setLanguage('zh-hant')
  await setLanguage('zh-hans')
  await first
  expect([currentLanguage(), getChosenLanguage()]).toEqual(['zh-hans', 'zh-hans'])
})
