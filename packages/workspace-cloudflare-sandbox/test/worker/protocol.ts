import { decodeText } from '@helix-agents/core/provider'
import type { CloudflareSandboxConfigInput } from '@helix-agents/workspace-cloudflare-sandbox'

/** What a test asks of a bench object, and how. */
export interface Asked {
  readonly program: 'behaviour' | 'open' | 'resolve' | 'call' | 'touch' | 'journey' | 'carry-over'
  readonly arguments: Readonly<Record<string, unknown>>
}

export interface OpenArguments {
  /** Under which the workspace is called later. */
  readonly key: string
  readonly sessionId: string
  readonly config?: Partial<CloudflareSandboxConfigInput>
  /** Of the provider, which is made with the first of them. */
  readonly options?: BenchOptions
}

/** Options of the provider, and how it is tested. */
export interface BenchOptions {
  readonly callTimeoutMs?: number
  readonly maxRestoreMembers?: number
  /** The SDK does not ask for long where the platform has no room. */
  readonly isImpatient?: boolean
  /** How many times faster than the machine's its clock goes. */
  readonly pace?: number
}

export interface CallArguments {
  readonly key: string
  /** `fs.readFile`, `shell.run`, `close`. */
  readonly method: string
  readonly given: readonly unknown[]
}

/** An error, as far as it crosses to a test. */
export interface ToldError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly admitted?: string
  readonly transient?: boolean
  readonly retryAfterMs?: number
  readonly hint?: string
  /** Messages of the causes, outermost first. */
  readonly causes: readonly string[]
  readonly stack?: string
  /** Everything that it holds, hidden properties and causes included. */
  readonly whole: string
}

export type Answer =
  | { readonly value: unknown; readonly error?: never }
  | { readonly error: ToldError; readonly value?: never }

export function tellError(error: unknown): ToldError {
  if (!(error instanceof Error)) {
    return { name: 'not an error', message: String(error), causes: [], whole: tellAll(error) }
  }
  const fields = error as Error & Partial<ToldError>
  return {
    name: fields.name,
    message: fields.message,
    ...(fields.code !== undefined && { code: fields.code }),
    ...(fields.admitted !== undefined && { admitted: fields.admitted }),
    ...(fields.transient !== undefined && { transient: fields.transient }),
    ...(fields.retryAfterMs !== undefined && { retryAfterMs: fields.retryAfterMs }),
    ...(fields.hint !== undefined && { hint: fields.hint }),
    ...(fields.stack !== undefined && { stack: fields.stack }),
    causes: causesOf(error),
    whole: tellAll(error),
  }
}

function causesOf(error: Error): string[] {
  const { cause } = error
  if (!(cause instanceof Error)) return cause === undefined ? [] : ['not an error']
  return [`${cause.name}: ${cause.message}`, ...causesOf(cause)]
}

const DEPTH = 12

/** All texts that can be reached from a value, also where JSON does not look. */
export function tellAll(value: unknown, depth = DEPTH): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth === 0) return ''
  const names = Reflect.ownKeys(value)
  const inner = names.map(
    (name) => `${String(name)} ${tellAll(Reflect.get(value, name), depth - 1)}`,
  )
  return [JSON.stringify(value), ...inner].join('\n')
}

/** Bytes as text, so that results are JSON. */
export function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return decodeText(value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]))
}
