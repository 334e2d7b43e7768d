import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSandboxConfig, SANDBOX_ID } from '../src/config.ts'
import { forkId, sandboxIdOf } from '../src/sandbox-id.ts'

const config = parseSandboxConfig({ kind: 'cloudflare-sandbox' })
const name = fc.string({ maxLength: 300 })

test('every session and workspace has an id that the platform takes', async () => {
  await fc.assert(
    fc.asyncProperty(name, name, async (sessionId, workspace) => {
      const id = await sandboxIdOf(config, sessionId, workspace)
      expect(id).toMatch(SANDBOX_ID)
      expect(await sandboxIdOf(config, sessionId, workspace)).toBe(id)
      expect(await forkId(id, 'restored')).toMatch(SANDBOX_ID)
    }),
  )
})

test('no two pairs share one, however they are split', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(name, name), fc.tuple(name, name), async (first, second) => {
      fc.pre(first[0] !== second[0] || first[1] !== second[1])
      expect(await sandboxIdOf(config, ...first)).not.toBe(await sandboxIdOf(config, ...second))
    }),
  )
  const splits = [
    await sandboxIdOf(config, 'a', 'b-c'),
    await sandboxIdOf(config, 'a-b', 'c'),
    await sandboxIdOf(config, 'A', 'b-c'),
  ]
  expect(new Set(splits).size).toBe(3)
})

test('the id of a session stays what it is: sandboxes are found by it', async () => {
  expect(await sandboxIdOf(config, 'session-1', 'box')).toBe('hx-xbanv7lbfmbyhtqqsmdpryymm33hg5xo')
})

test('forks are never the same twice, and do not grow', async () => {
  const origin = await sandboxIdOf(config, 'session-1', 'box')
  const [first, second] = [await forkId(origin, 'branch'), await forkId(origin, 'branch')]
  expect(first).not.toBe(second)
  expect((await forkId(first, 'branch')).length).toBe(first.length)
  expect(await forkId('team-box', 'restored')).toMatch(/^hx-[a-z2-7]{32}-restored-[0-9a-f]{16}$/)
})
