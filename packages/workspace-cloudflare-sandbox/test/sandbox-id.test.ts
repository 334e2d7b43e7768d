import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSandboxConfig, SANDBOX_ID } from '../src/config.ts'
import { forkId, hashParts, isForkId, randomHex, sandboxIdOf } from '../src/sandbox-id.ts'

const config = parseSandboxConfig({ kind: 'cloudflare-sandbox' })
const name = fc.string({ maxLength: 300 })

test('every session and workspace has an id that the platform takes', async () => {
  await fc.assert(
    fc.asyncProperty(name, name, async (sessionId, workspace) => {
      const id = await sandboxIdOf(config, sessionId, workspace)
      expect(id).toMatch(SANDBOX_ID)
      expect(id).toMatch(/^hx-[a-z2-7]{32}$/)
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

/** The model of a hash: bits of SHA-256 as text. */
function modelOf(parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest()
  const bits = Array.from(digest, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const fives = bits.slice(0, 160).match(/.{5}/g) ?? []
  return fives.map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number(`0b${five}`)]).join('')
}

test('a hash is the first 160 bits of SHA-256, five a character', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 3 }), async (parts) => {
      expect(await hashParts(...parts)).toBe(modelOf(parts))
    }),
  )
  // Begins with five bits that are zero.
  expect(await hashParts('51')).toBe(modelOf(['51']))
})

test('an id that is declared needs both words, and is taken as it is', async () => {
  const shared = { ...config, id: 'team-box', shareAcrossSessions: true }
  expect(await sandboxIdOf(shared, 's', 'box')).toBe('team-box')
  for (const shareAcrossSessions of [undefined, false]) {
    const { shareAcrossSessions: _, ...alone } = shared
    const asked = { ...alone, ...(shareAcrossSessions === false && { shareAcrossSessions }) }
    await expect(sandboxIdOf(asked, 's', 'box')).rejects.toMatchObject({
      code: 'sharing-not-declared',
      message:
        'a sandbox id is shared by all sessions of this agent, which workspace "box" does not allow',
      hint: 'An operator must set shareAcrossSessions: true next to id, or remove id.',
    })
  }
})

/** What the ids of all forks of a sandbox begin with. */
const baseOf = (id: string): string => id.slice(0, 35)

test('the id of a fork is told from others', async () => {
  const base = `hx-${'a2'.repeat(16)}`
  const nonce = '0123456789abcdef'
  for (const id of [`${base}-restored-${nonce}`, `${base}-branch-${nonce}`]) {
    expect([isForkId(id), isForkId(`x${id}`), isForkId(`${id}0`)]).toEqual([true, false, false])
  }
  for (const id of [base, `${base}-other-${nonce}`, `team-branch-${nonce}`]) {
    expect(isForkId(id)).toBe(false)
  }
  expect(isForkId(await forkId('team-box', 'branch'))).toBe(true)
  const [ours, theirs] = [await forkId('team-box', 'branch'), await forkId('team-bag', 'branch')]
  expect(baseOf(ours)).toBe(`hx-${await hashParts('fork', 'team-box')}`)
  expect(baseOf(theirs)).not.toBe(baseOf(ours))
  expect(baseOf(await forkId(ours, 'restored'))).toBe(baseOf(ours))
})

test('random digits are two a byte', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (bytes) => {
      expect(randomHex(bytes)).toMatch(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
    }),
  )
})

test('forks are never the same twice, and do not grow', async () => {
  const origin = await sandboxIdOf(config, 'session-1', 'box')
  const [first, second] = [await forkId(origin, 'branch'), await forkId(origin, 'branch')]
  expect(first).not.toBe(second)
  expect((await forkId(first, 'branch')).length).toBe(first.length)
  expect(await forkId('team-box', 'restored')).toMatch(/^hx-[a-z2-7]{32}-restored-[0-9a-f]{16}$/)
})
