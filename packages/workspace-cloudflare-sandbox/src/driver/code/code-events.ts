import { decodeBase64 } from '@helix-agents/core/provider'
import type { DriverCodeOutcome, DriverCodeOutput } from '../port.ts'

/** The events that the program of a run emits beside its outputs. */
export interface CodeEvent {
  /** Bytes of stdout and stderr before it; without, it stands behind all of them. */
  readonly at?: readonly [stdout: number, stderr: number]
  readonly outputs: readonly DriverCodeOutput[]
  readonly error?: NonNullable<DriverCodeOutcome['error']>
  readonly ending?: CodeEnding
}

/** How a run ended without its code: no interpreter, no context, no room, or an interpreter that left. */
export interface CodeEnding {
  readonly type: 'absent' | 'lost' | 'full' | 'ended'
  /** That is missing. */
  readonly program?: string
}

/** Reads one line; the code itself may have written it, so nothing about it is certain. */
export function readCodeEvent(line: string): CodeEvent | undefined {
  const event = parse(line)
  const type = field(event, 'type')
  const at = placeOf(event)
  const common = { ...(at !== undefined && { at }) }
  switch (type) {
    case 'mark':
      return { ...common, outputs: [] }
    case 'result':
      return { ...common, outputs: resultsOf(event) }
    case 'error':
      return { ...common, outputs: [], error: errorOf(event) }
    case 'absent':
    case 'lost':
    case 'full':
    case 'ended':
      return { outputs: [], ending: { type, program: textOf(field(event, 'program')) } }
    default:
      return undefined
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // Cut off, or not written by the program.
    return undefined
  }
}

function placeOf(event: unknown): CodeEvent['at'] {
  const at = field(event, 'at')
  if (!Array.isArray(at)) return undefined
  const [stdout, stderr]: readonly unknown[] = at
  if (typeof stdout !== 'number' || typeof stderr !== 'number') return undefined
  return [stdout, stderr]
}

const DISPLAYS: readonly (readonly [name: string, mime: string, isBinary: boolean])[] = [
  ['png', 'image/png', true],
  ['jpeg', 'image/jpeg', true],
  ['svg', 'image/svg+xml', false],
  ['html', 'text/html', false],
  ['markdown', 'text/markdown', false],
  ['latex', 'text/latex', false],
  ['javascript', 'application/javascript', false],
]

function resultsOf(event: unknown): readonly DriverCodeOutput[] {
  const displays = DISPLAYS.flatMap(([name, mime, isBinary]): DriverCodeOutput[] => {
    const value = field(event, name)
    if (typeof value !== 'string') return []
    const data = isBinary ? bytesOf(value) : new TextEncoder().encode(value)
    return data === undefined ? [] : [{ type: 'display', mime, data }]
  })
  const value = field(event, 'json') ?? field(event, 'data') ?? field(event, 'chart')
  if (value !== undefined) return [...displays, { type: 'result', value }]
  const text = field(event, 'text')
  // Beside a picture the text only says that there is one.
  if (displays.length > 0 || text === undefined) return displays
  return [{ type: 'result', value: text }]
}

function bytesOf(encoded: string): Uint8Array | undefined {
  try {
    return decodeBase64(encoded)
  } catch {
    // What code displays is not always what it says.
    return undefined
  }
}

function errorOf(event: unknown): NonNullable<DriverCodeOutcome['error']> {
  const trace = field(event, 'traceback')
  return {
    name: textOf(field(event, 'name')) || 'Error',
    message: textOf(field(event, 'message')),
    ...(Array.isArray(trace) && trace.length > 0 && { trace: trace.join('\n') }),
  }
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Reflect.get(value, name)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
