// Refs of snapshots pass through the model. Whoever changes one gets nothing that is not theirs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { availability, Bench, codeOf, skipNote } from '../testbed/bench.ts'

interface Taken {
  readonly providerId: string
  readonly ref: { readonly session: string; readonly snapshot: { readonly backup: object } }
}

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 60_000)
  afterAll(() => bench?.testbed.stop(), 60_000)

  test('the backup of another session under the own name is refused', async () => {
    const config = { backupR2Binding: 'BACKUP_BUCKET' } as const
    const [victim, thief] = [
      await bench.open('victim', { config }),
      await bench.open('thief', { config }),
    ]
    await victim.call('fs.writeFile', '/secret', 'secret')
    const taken = await victim.call<Taken>('snapshot.snapshot')
    const own = await thief.call<Taken>('snapshot.snapshot')
    const forged = { ...taken, ref: { ...taken.ref, session: own.ref.session } }
    for (const method of ['snapshot.restore', 'snapshot.branch']) {
      expect(await codeOf(thief.call(method, taken))).toBe('cross-session')
      expect(await codeOf(thief.call(method, forged))).toBe('cross-session')
      expect(await codeOf(thief.call(method, own))).toBe('no error')
      const shared = thief.call(method, taken, { allowCrossSession: true })
      expect(await codeOf(shared)).toBe('no error')
    }
  }, 60_000)

  test.each([
    ['another provider', (taken: Taken) => ({ ...taken, providerId: 'local-bash' })],
    ['a field too many', (taken: Taken) => ({ ...taken, ref: { ...taken.ref, more: 1 } })],
    [
      'a number as text',
      (taken: Taken) => ({ ...taken, ref: { ...taken.ref, schemaVersion: '1' } }),
    ],
    ['a path as id', (taken: Taken) => withBackup(taken, { id: '../../x' })],
    ['no expiry', (taken: Taken) => withBackup(taken, { expiresAtMs: null })],
    ['an endless one', (taken: Taken) => withBackup(taken, { expiresAtMs: Number.MAX_VALUE })],
  ])(
    '%s is no snapshot',
    async (name, change) => {
      const config = { backupR2Binding: 'BACKUP_BUCKET' } as const
      const ws = await bench.open(`forged-${name.replaceAll(' ', '-')}`, { config })
      const taken = await ws.call<Taken>('snapshot.snapshot')
      expect(await codeOf(ws.call('snapshot.restore', change(taken)))).toBe('ref-invalid')
    },
    60_000,
  )
})

function withBackup(taken: Taken, change: object): unknown {
  const { snapshot } = taken.ref
  const backup = { ...snapshot.backup, ...change }
  return { ...taken, ref: { ...taken.ref, snapshot: { ...snapshot, backup } } }
}
