import { afterEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { answerByPath, listChanges, page, withQueries } from '@/testing/restServer'
import { NewChatDialog } from './NewChatDialog'

const actor = (name: string, kind: 'human' | 'agent') => ({
  id: name.toLowerCase(),
  name,
  handle: name.toLowerCase(),
  kind,
  avatar: null,
})
const owl = { actor: actor('Owl', 'agent'), publisher_name: null }
const wren = { actor: actor('Wren', 'agent'), publisher_name: 'Harbor' }

afterEach(() => vi.restoreAllMocks())

it('makes a chat with a public agent that was found by a search, without the mouse', async () => {
  const requests = answerByPath({
    'GET /me': { actor: actor('Alice', 'human') },
    'GET /workspaces/w/members': page([{ actor: actor('Alice', 'human') }]),
    'GET /workspaces/w/agents': page([]),
    'GET /directory?limit=8': page([owl]),
    'GET /directory?limit=8&used_in=w': page([]),
    'GET /directory?limit=8&query=wren': page([wren]),
    'GET /directory?limit=8&query=wren&used_in=w': page([]),
    'POST /workspaces/w/chats': { chat: { id: 'new' } },
  })
  const onMade = vi.fn()
  const screen = await render(
    withQueries(<NewChatDialog workspaceId="w" open onOpenChange={vi.fn()} onMade={onMade} />),
  )
  const group = screen.getByRole('group', { name: 'Public agents' })
  await group.getByRole('searchbox').fill('wren')
  const found = group.getByRole('button', { name: 'Wren Harbor' })
  await expect.element(found).toHaveAttribute('aria-pressed', 'false')
  await userEvent.keyboard('{Enter}')
  // The chosen one stays, whatever is searched next.
  await group.getByRole('searchbox').fill('')
  await expect.element(group.getByRole('button', { name: 'Owl' })).toBeVisible()
  await expect.element(group.getByRole('button', { name: 'Wren' })).toHaveAttribute('aria-pressed', 'true')
  expect(listChanges(requests)).toEqual([])
  await screen.getByRole('button', { name: 'Create chat' }).click()
  await vi.waitFor(() => expect(onMade).toHaveBeenCalledWith('new'))
  expect(listChanges(requests)).toEqual([['POST /workspaces/w/chats', { title: 'Wren', actor_ids: ['wren'] }]])
})
