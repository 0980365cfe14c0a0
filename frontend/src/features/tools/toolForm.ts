/** The form of an HTTP tool, and the form that a stored tool was made of. Pure functions. */
import type { HttpToolInput, ToolEffect, WorkspaceToolRow } from '@/api'

type SentForm = HttpToolInput['form']
export type Method = SentForm['method']
export type FormArgument = Required<NonNullable<SentForm['arguments']>[number]>
export type ToolForm = Required<Omit<SentForm, 'effect' | 'arguments'>> & {
  effect: ToolEffect
  arguments: FormArgument[]
}

export const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']

export const isReading = (method: Method) => method === 'GET' || method === 'HEAD'

/** Returns an argument that nobody has named yet. */
export const buildArgument = (method: Method): FormArgument => ({
  name: '',
  where: isReading(method) ? 'query' : 'body',
  type: 'string',
  description: '',
  is_required: false,
  target: '',
})

/** Returns the form that a stored tool was made of. A tool without a request has an empty one. */
export function buildForm({ description, effect, input_schema, request }: WorkspaceToolRow): ToolForm {
  const properties = (input_schema.properties ?? {}) as Record<string, { type?: string; description?: string }>
  const required = (input_schema.required ?? []) as string[]
  return {
    description,
    method: methods.find(method => method === request?.method) ?? 'GET',
    path: request?.path ?? '/',
    effect,
    body: request?.body === 'form' ? 'form' : 'json',
    arguments: (request?.arguments ?? []).map(({ name, where, target }) => ({
      name,
      where,
      target,
      type: toArgumentType(properties[name]?.type),
      description: properties[name]?.description ?? '',
      is_required: required.includes(name),
    })),
  }
}

function toArgumentType(type: string | undefined): FormArgument['type'] {
  switch (type) {
    case 'integer':
    case 'number':
    case 'boolean':
      return type
    case 'array':
      return 'strings'
    default:
      return 'string'
  }
}
