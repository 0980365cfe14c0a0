import { useState } from 'react'
import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import { RowForm } from './RowForm'

interface Row {
  name: string
  revision: number
}

function NameForm({ row, onSaved }: { row: Row; onSaved(): void }) {
  const [name, setName] = useState(row.name)
  return (
    <form>
      <input aria-label="Name" value={name} onChange={event => setName(event.target.value)} />
      <output aria-label="Revision">{row.revision}</output>
      <button type="button" onClick={onSaved}>
        Saved
      </button>
    </form>
  )
}

const show = (row: Row) => (
  <RowForm row={row} revision={row.revision}>
    {(row, onSaved) => <NameForm row={row} onSaved={onSaved} />}
  </RowForm>
)

it('shows a changed row, but keeps unsaved input and the row it was typed into', async () => {
  const screen = await render(show({ name: 'Lab', revision: 1 }))
  const [field, revision] = [screen.getByLabelText('Name'), screen.getByLabelText('Revision')]
  await screen.rerender(show({ name: 'Office', revision: 2 }))
  await expect.element(field).toHaveValue('Office')
  await field.fill('Studio')
  await screen.rerender(show({ name: 'Works', revision: 3 }))
  await expect.element(field).toHaveValue('Studio')
  await expect.element(revision).toHaveTextContent('2')
  await expect.element(screen.getByText('It was changed elsewhere')).toBeVisible()
  await screen.getByRole('button', { name: 'Saved' }).click()
  await expect.element(field).toHaveValue('Works')
  await expect.element(revision).toHaveTextContent('3')
})

it('gives up the input for the new row when a person asks for it', async () => {
  const screen = await render(show({ name: 'Lab', revision: 1 }))
  await screen.getByLabelText('Name').fill('Studio')
  await screen.rerender(show({ name: 'Works', revision: 2 }))
  await screen.getByRole('button', { name: 'Show the new values' }).click()
  await expect.element(screen.getByLabelText('Name')).toHaveValue('Works')
  expect(screen.getByText('It was changed elsewhere').query()).toBeNull()
})
