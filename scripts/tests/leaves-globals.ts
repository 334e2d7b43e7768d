// Files of tests share a process: what one leaves in a global another one would trip over.
import { afterAll, vi } from 'vitest'

const names = ['Date', 'Headers', 'Request', 'Response', 'fetch', 'setTimeout'] as const

const globalsNow = (): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ...names.map((name) => [name, globalThis[name]] as const),
    ['Uint8Array.fromBase64', Reflect.get(Uint8Array, 'fromBase64')],
    ['Uint8Array.prototype.toBase64', Reflect.get(Uint8Array.prototype, 'toBase64')],
  ])

const before = globalsNow()

afterAll(() => {
  // Vitest takes these back before the next test only, which is after the next file was loaded.
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.useRealTimers()
  const changed = [...globalsNow()].filter(([name, value]) => value !== before.get(name))
  for (const [name] of changed) {
    if (name in globalThis) Reflect.set(globalThis, name, before.get(name))
  }
  if (changed.length === 0) return
  throw new Error(
    `the tests of this file leave another ${changed.map(([name]) => name).join(', ')}`,
  )
})
