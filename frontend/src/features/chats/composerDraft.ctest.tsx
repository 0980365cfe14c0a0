import { afterEach, beforeEach, expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import { setStorageOwner } from '@/lib/storage'
import { useComposerDraft } from './composerDraft'

function Field() {
  const { text, setText } = useComposerDraft('c')
  return <textarea aria-label="text" value={text} onChange={event => setText(event.target.value)} />
}

beforeEach(() => {
  localStorage.clear()
  setStorageOwner('alice')
})

afterEach(() => {
  document.querySelector('iframe')?.remove()
  setStorageOwner(null)
})

it('shows the text that the same person writes in another tab', async () => {
  const screen = await render(<Field />)
  const field = screen.getByLabelText('text')
  const tab = document.createElement('iframe')
  document.body.append(tab)
  const other = tab.contentWindow?.localStorage
  other?.setItem('atelier.text.c@alice', JSON.stringify({ text: 'half a sentence', replyTo: null }))
  await expect.element(field).toHaveValue('half a sentence')
  other?.setItem('atelier.text.c@bob', JSON.stringify({ text: 'of somebody else', replyTo: null }))
  other?.removeItem('atelier.text.c@alice')
  await expect.element(field).toHaveValue('')
})
