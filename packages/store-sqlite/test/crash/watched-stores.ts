// Stores that say when something is about to be written and when it was: the moments at which a
// process is killed. A saboteur breaks one promise of them, to show that the judge notices.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionStateStore, StreamManager, StreamWriter } from '@helix-agents/core/runtime'

/**
 * Broken on purpose; see `sabotage.test.ts`. `write-behind` says that a write is stored and stores
 * it a moment later, `no-journal` knows no started calls, `short-step` loses the last message of a
 * step, `lost-chunks` some of the stream, `no-start` that an approved call was started.
 */
export type Sabotage = 'write-behind' | 'no-journal' | 'short-step' | 'lost-chunks' | 'no-start'

const BEHIND_MS = 15

type Call = (given: unknown, ...rest: readonly unknown[]) => Promise<unknown>

/** The store with `onPoint` before and after each call. */
export function watchStore(
  store: SessionStateStore,
  onPoint: () => void,
  sabotage?: Sabotage,
): SessionStateStore {
  const behind = { last: Promise.resolve<unknown>(undefined) }
  return new Proxy(store, {
    get(target, key) {
      const method = Reflect.get(target, key) as Call
      const call = sabotaged(String(key), method.bind(target), { sabotage, behind })
      return async (...given: Parameters<Call>): Promise<unknown> => {
        onPoint()
        const result = await call(...given)
        onPoint()
        return result
      }
    },
  })
}

interface Saboteur {
  readonly sabotage: Sabotage | undefined
  readonly behind: { last: Promise<unknown> }
}

function sabotaged(key: string, call: Call, { sabotage, behind }: Saboteur): Call {
  if (sabotage === 'write-behind' && BEHIND.has(key)) {
    return async (given) => {
      behind.last = behind.last.then(() => sleep(BEHIND_MS)).then(() => call(given))
    }
  }
  if (sabotage === 'no-journal' && key === 'beginStep') {
    return (given) => call({ ...(given as object), journal: [] })
  }
  const undone = sabotage === undefined ? undefined : UNDONE[sabotage]
  if (undone?.key === key) return async () => undone.result
  if (sabotage === 'short-step' && key === 'commitStep') {
    return (given) => {
      const { messages } = given as { readonly messages: readonly unknown[] }
      const kept = messages.length > 1 ? messages.slice(0, -1) : messages
      return call({ ...(given as object), messages: kept })
    }
  }
  return call
}

/** Calls that only say that they were done. */
const UNDONE: Partial<Record<Sabotage, { readonly key: string; readonly result?: unknown }>> = {
  'no-journal': { key: 'completeToolCall' },
  'no-start': { key: 'startRequest', result: true },
}

const BEHIND: ReadonlySet<string> = new Set([
  'beginStep',
  'completeToolCall',
  'commitStep',
  'endRun',
])

/** The same for streams. */
export function watchStreams(
  streams: StreamManager,
  onPoint: () => void,
  sabotage?: Sabotage,
): StreamManager {
  const watchWriter = (writer: StreamWriter): StreamWriter => {
    let toolEnds = 0
    return {
      write: async (chunk) => {
        if (chunk.type === 'tool_end') toolEnds += 1
        if (sabotage === 'lost-chunks' && toolEnds % 3 === 2) return
        onPoint()
        await writer.write(chunk)
        onPoint()
      },
    }
  }
  return {
    startRun: async (...run) => watchWriter(await streams.startRun(...run)),
    resumeRun: async (...run) => watchWriter(await streams.resumeRun(...run)),
    endRun: async (...run) => {
      onPoint()
      await streams.endRun(...run)
      onPoint()
    },
    read: (...query) => streams.read(...query),
    deleteStream: (...id) => streams.deleteStream(...id),
  }
}
