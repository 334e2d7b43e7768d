import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { SessionStateStore } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'

/** Methods that change a session. Each depends on nothing but the session and its argument. */
const changes: ReadonlySet<PropertyKey> = new Set<keyof SessionStateStore>([
  'createSession',
  'deleteSession',
  'beginRun',
  'renewRun',
  'endRun',
  'appendMessages',
  'beginStep',
  'completeToolCall',
  'commitStep',
  'saveWorkspaceRef',
  'restoreCheckpoint',
])

type Method = (...args: readonly unknown[]) => Promise<unknown>

interface Change {
  readonly method: string
  readonly args: readonly unknown[]
}

/**
 * The in-memory store, with every change also appended to a file as a line of JSON. A later
 * process replays the lines and has the sessions again. One process at a time, and text only:
 * enough to show that a session outlives its process.
 */
export async function openRecordedStore(file: string): Promise<SessionStateStore> {
  const memory = new InMemoryStateStore()
  for (const { method, args } of readChanges(file)) await methodOf(memory, method)?.(...args)
  return new Proxy<SessionStateStore>(memory, {
    get(_, property) {
      const method = methodOf(memory, property)
      if (method === undefined || !changes.has(property)) return method
      return async (...args: readonly unknown[]): Promise<unknown> => {
        const result = await method(...args)
        appendFileSync(file, `${JSON.stringify({ method: property, args })}\n`)
        return result
      }
    },
  })
}

/** Undefined for what is no method, such as the `then` that `await` looks for. */
function methodOf(store: SessionStateStore, name: PropertyKey): Method | undefined {
  const method: unknown = Reflect.get(store, name)
  return typeof method === 'function' ? (method.bind(store) as Method) : undefined
}

/** A last line that a crash cut short is a change that nobody was told of: it is taken off. */
function readChanges(file: string): Change[] {
  if (!existsSync(file)) return []
  const text = readFileSync(file, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole.length < text.length) writeFileSync(file, whole)
  const lines = whole.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Change)
}
