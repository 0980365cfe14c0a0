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

const listPlaceholders = (path: string) => [...path.matchAll(/\{([^{}/]+)\}/g)].map(match => match[1] ?? '')

const getSentName = ({ name, target }: FormArgument) => target || name

/** An argument after a change of the path. `from`: its index before; null if it is new. */
interface MovedArgument {
  argument: FormArgument
  from: number | null
}

/**
 * Returns the arguments for a path: each `{name}` has one. If one name was changed, its argument is renamed and keeps the
 * rest. An argument whose name is no longer in the path is removed.
 */
export function matchPath({ arguments: before, method }: ToolForm, path: string): MovedArgument[] {
  const names = new Set(listPlaceholders(path))
  const kept = before.map((argument, from) => ({ argument, from }))
  const inPath = (argument: FormArgument) => argument.where === 'path'
  const missing = [...names].filter(name => !before.some(one => inPath(one) && getSentName(one) === name))
  const unused = kept.filter(({ argument }) => inPath(argument) && !names.has(getSentName(argument)))
  const build = (name: string, base: FormArgument): FormArgument => {
    const isValid = /^[a-zA-Z0-9_-]{1,64}$/.test(name)
    return { ...base, where: 'path', is_required: true, name: isValid ? name : 'id', target: isValid ? '' : name }
  }
  const renamed = missing.length === 1 && unused.length === 1 ? unused[0] : undefined
  const moved: MovedArgument[] = kept
    .filter(one => one === renamed || !unused.includes(one))
    .map(one => (one === renamed ? { ...one, argument: build(missing[0] ?? '', one.argument) } : one))
  const added = renamed ? [] : missing.map(name => ({ argument: build(name, buildArgument(method)), from: null }))
  return [...added, ...moved]
}

/** Returns the names in the path that have no argument, and the arguments in the path that it does not name. */
export function findPathProblems({ path, arguments: args }: ToolForm) {
  const names = listPlaceholders(path)
  const inPath = args.filter(one => one.where === 'path').map(getSentName)
  return {
    missing: names.filter(name => !inPath.includes(name)),
    unused: inPath.filter(name => !names.includes(name)),
  }
}

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
