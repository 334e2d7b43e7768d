// The machine of this process: its signals and its output.
import type { EventEmitter } from 'node:events'
import { constants } from 'node:os'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CliHost } from '../src/cli-host.ts'
import { createNodeHost } from '../src/node-host.ts'

const SOURCES: readonly (readonly [EventEmitter, string])[] = [
  [process, 'SIGTERM'],
  [process, 'SIGINT'],
  [process.stdout, 'error'],
  [process.stderr, 'error'],
]
type Handler = (...given: readonly unknown[]) => void

let others: ReadonlySet<unknown>
let host: CliHost

beforeEach(() => {
  others = new Set(SOURCES.flatMap(([source, event]) => source.listeners(event)))
  host = createNodeHost()
})
afterEach(() => {
  for (const [source, event] of SOURCES) {
    for (const handler of ownOf(source, event)) source.off(event, handler)
  }
})

/** What the host listens with. */
function ownOf(source: EventEmitter, event: string): readonly Handler[] {
  return source.listeners(event).filter((one) => !others.has(one)) as Handler[]
}

/** An event for the host, and for nobody else in this process. */
function send(source: EventEmitter, event: string, given: unknown): void {
  const handlers = ownOf(source, event)
  expect(handlers).toHaveLength(1)
  for (const handler of handlers) handler(given)
}

function failWith(code: string): void {
  send(process.stdout, 'error', Object.assign(new Error('no space left'), { code }))
}

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s asks the process to end, and a second one ends it',
    async (signal) => {
      const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
      const asked = host.untilSignal()
      send(process, signal, signal)
      expect(await asked).toBe(signal)
      expect(exit).not.toHaveBeenCalled()
      send(process, 'SIGINT', 'SIGINT')
      expect(exit).toHaveBeenCalledExactlyOnceWith(128 + constants.signals.SIGINT)
    },
  )
})

describe('the output', () => {
  it('that its reader has closed is no error', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const { exitCode } = process
    expect(host.isOutputClosed()).toBe(false)
    failWith('EPIPE')
    expect([host.isOutputClosed(), process.exitCode]).toEqual([true, exitCode])
    expect(write).not.toHaveBeenCalled()
  })

  it('that cannot be written is a failure, which is said', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const { exitCode } = process
    try {
      failWith('ENOSPC')
      expect([host.isOutputClosed(), process.exitCode]).toEqual([true, 70])
      const text = 'helix: the output cannot be written: no space left\n'
      expect(write).toHaveBeenCalledExactlyOnceWith(text)
    } finally {
      process.exitCode = exitCode
    }
  })

  it('of errors has no further one for its own', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    send(process.stderr, 'error', new Error('closed'))
    expect(write).not.toHaveBeenCalled()
  })
})

it('has the streams, the variables, the network and the time of the process', () => {
  const { stdout, stderr, env } = process
  expect(host).toMatchObject({ stdout, stderr, env, fetch: globalThis.fetch })
  expect(Math.abs(host.clock.now() - Date.now())).toBeLessThan(10_000)
})
