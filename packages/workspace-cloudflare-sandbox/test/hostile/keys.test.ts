// Names that try to be paths: whoever chooses those of sessions, workspaces and snapshots reaches
// nothing of others in the buckets.
import { expect, test } from 'vitest'
import { Bench, codeOf, payloadOf } from '../double/open-on-double.ts'

const crafted = [
  '',
  '.',
  '..',
  '../..',
  '/',
  'a/b',
  'a\\b',
  '%2e%2e%2f',
  '..\u2215..',
  '\uFF0E\uFF0E/',
  'session-1\0',
  'session-1\n',
  'session-1 ',
  'SESSION-1',
  's\u0435ssion-1',
  '\u202Esession-1',
  '\uD800',
  '["session-1","box"]',
  '__proto__',
  'x'.repeat(100_000),
]

test('each session and each workspace has a directory and a sandbox of its own', async () => {
  const mounts = [{ bucket: 'FILES', path: '/workspace' }]
  const bench = new Bench({ mounts })
  for (const name of crafted) {
    await bench.open({ sessionId: name })
    await bench.open({ workspace: name })
  }
  const prefixes = [...bench.world.containers.values()].map((one) => one.mounts[0]?.prefix ?? '')
  expect(new Set(prefixes).size).toBe(2 * crafted.length)
  for (const prefix of prefixes) expect(prefix).toMatch(/^\/helix\/[a-z2-7]{32}$/)
  for (const id of bench.world.touched) expect(id).toMatch(/^hx-[a-z2-7]{32}$/)
})

test('a declared prefix stays the border, with or without sharing', async () => {
  for (const prefix of [
    '/../x',
    '/a/../../b',
    'a',
    '/a//b',
    '/a/',
    '/%2e%2e',
    '/a\nb',
    '/.',
    '/',
  ]) {
    const bench = new Bench({ mounts: [{ bucket: 'FILES', path: '/data', prefix }] })
    expect([prefix, await codeOf(bench.open())]).toEqual([prefix, 'config-invalid'])
    expect(bench.world.touched.size).toBe(0)
  }
})

const backups = { backupR2Binding: 'BACKUP_BUCKET' } as const

interface Taken {
  readonly providerId: string
  readonly ref: { readonly snapshot: { readonly backup: object }; readonly session: string }
}

test('a snapshot with such an id is refused without contact, and so is such a session', async () => {
  const bench = new Bench(backups)
  const { ws } = await bench.open()
  const taken = (await ws.snapshot!.snapshot()) as unknown as Taken
  const { snapshot } = taken.ref
  const { length } = bench.world.calls
  for (const id of [...crafted.filter((one) => one !== '__proto__'), 'b'.repeat(129)]) {
    const backup = { ...snapshot.backup, id }
    const forged = { ...taken, ref: { ...taken.ref, snapshot: { ...snapshot, backup } } }
    // Two of them are ordinary words, of which the bucket knows nothing.
    const code = await codeOf(ws.snapshot!.restore(forged))
    expect([id.slice(0, 20), code]).toEqual([
      id.slice(0, 20),
      /^[A-Za-z0-9_-]{1,128}$/.test(id) ? 'no error' : 'ref-invalid',
    ])
    const of = { ...taken, ref: { ...taken.ref, session: id } }
    expect(await codeOf(ws.snapshot!.branch!(of as never))).toBe('ref-invalid')
  }
  expect(bench.world.calls.length).toBe(length)
})

test('times that no date can be are refused: they would break whoever shows them', async () => {
  const bench = new Bench({ ...backups, autoRestore: true })
  const { ws } = await bench.open()
  const taken = (await ws.snapshot!.snapshot()) as unknown as Taken
  const { snapshot } = taken.ref
  const late = 8_640_000_000_000_001
  for (const forged of [
    { ...snapshot, takenAtMs: late },
    { ...snapshot, backup: { ...snapshot.backup, expiresAtMs: late } },
  ]) {
    const ref = { ...taken, ref: { ...taken.ref, snapshot: forged } }
    expect(await codeOf(ws.snapshot!.restore(ref as never))).toBe('ref-invalid')
    const stored = ws.changedRef!
    const damaged = { ...stored, ref: { ...payloadOf(stored), snapshot: forged } }
    expect(await codeOf(bench.resolve(damaged))).toBe('ref-invalid')
  }
})
