// Refs of snapshots pass through the model. Whoever changes one gets nothing that is not theirs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { availability, Bench, codeOf, type RemoteWorkspace, skipNote } from '../testbed/bench.ts'

interface Taken {
  readonly providerId: string
  readonly ref: { readonly session: string; readonly snapshot: { readonly backup: object } }
}

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

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
  }, 90_000)

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
    90_000,
  )
})

describe.skipIf(!availability.available)(`restores in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)
  const config = { backupR2Binding: 'BACKUP_BUCKET', autoRestore: true } as const

  test('of several names of one file, and odd ones, are whole', async () => {
    const ws = await bench.open('names', { config })
    await ws.call(
      'shell.run',
      'echo x > a; ln a b; ln a c; mkdir d; ln -s a l; mkfifo p; mkdir "e f"',
    )
    const taken = await ws.call<Taken>('snapshot.snapshot')
    const fork = await ws.call<object>('snapshot.branch', taken)
    await ws.resolve(fork)
    expect(await ws.output('stat -c "%h %F" a d l p "e f"')).toBe(
      '3 regular file\n2 directory\n1 symbolic link\n1 fifo\n2 directory',
    )
  }, 90_000)

  test('of a workspace that is a link elsewhere are refused with the places that are not', async () => {
    const ws = await bench.open('elsewhere', { config })
    await ws.call('shell.run', 'cd /; mv /workspace /opt/there && ln -s /opt/there /workspace')
    const refused = ws.call('snapshot.snapshot')
    await expect(refused).rejects.toMatchObject({
      code: 'provider-failed',
      told: { hint: expect.stringContaining('below /home, /tmp, /var/tmp or /app') },
    })
  }, 90_000)

  const open = (name: string, more: object = {}): Promise<RemoteWorkspace> =>
    bench.open(name, { config: { ...config, ...more } })
  const TREE = 'find . -printf "%M %p %l\\0" | sort -z | base64 -w0'
  const MAKE = 'echo a > a; chmod 640 a; ln -s a l; mkdir -p e/f; touch "n\new" .h; ln -s /no x'

  test('what a model edits changes neither the place nor the content', async () => {
    const ws = await open('edited')
    await ws.call('shell.run', MAKE)
    const whole = await ws.output(TREE)
    const taken = await ws.call<Taken>('snapshot.snapshot')
    const edits = { directory: '/etc', members: 0, totalBytes: 0, local: false }
    const fork = await ws.call('snapshot.restore', withBackup(taken, edits))
    expect((await ws.resolve(fork)).receipt.outcome).toBe('restored')
    expect(await ws.output(TREE)).toBe(whole)
    expect(await ws.output('test -e /etc/a || echo untouched')).toBe('untouched')
  }, 90_000)

  test.each([
    [
      'a link to a directory',
      'mv /workspace /tmp/w; ln -s /tmp/w /workspace',
      'echo a | cmp - /tmp/w/a',
    ],
    ['a link to nowhere', 'rm -rf /workspace; ln -s /no /workspace', 'readlink /workspace.1'],
    ['a file', 'rm -rf /workspace; echo f > /workspace', 'cat /workspace.1'],
    ['half of it, and more', 'rm -rf a e; mkdir -p a/b; echo x > more', 'true'],
  ])(
    'a restore over %s is exact',
    async (name, replace, kept) => {
      const ws = await open(`over ${name}`)
      await ws.call('shell.run', MAKE)
      const whole = await ws.output(TREE)
      await ws.call('snapshot.snapshot')
      const ref = await ws.call('changedRef')
      // Without its marks the container is another one.
      await ws.call('shell.run', `${replace}; rm -rf /var/tmp/.helix /etc/.helix*`)
      expect((await ws.resolve(ref)).receipt.outcome).toBe('restored')
      expect(await ws.output(TREE)).toBe(whole)
      expect(await ws.call('shell.run', kept)).toMatchObject({ exitCode: 0 })
      expect(await ws.output(`test -d /workspace -a ! -L /workspace && echo whole`)).toBe('whole')
    },
    90_000,
  )

  test('a fork whose snapshot has expired meanwhile is lost, whoever has the right time', async () => {
    // The SDK has none back in its last 60 seconds: it can be forked for 4, also on a busy machine.
    const ws = await open('expires', { backupTtlSeconds: 64 })
    const taken = await ws.call('snapshot.snapshot')
    const fork = await ws.call('snapshot.branch', taken)
    // The clock of the object is behind, that of the SDK is not.
    await ws.call('clock.leap', -3_600_000)
    await ws.output('sleep 5')
    expect(await codeOf(ws.call('snapshot.branch', taken))).toBe('no error')
    expect(await codeOf(ws.resolve(fork))).toBe('lost')
    await ws.call('clock.leap', 3_600_000)
    expect(await codeOf(ws.call('snapshot.branch', taken))).toBe('provider-failed')
    expect(await codeOf(ws.resolve(fork))).toBe('lost')
  }, 90_000)
})

function withBackup(taken: Taken, change: object): unknown {
  const { snapshot } = taken.ref
  const backup = { ...snapshot.backup, ...change }
  return { ...taken, ref: { ...taken.ref, snapshot: { ...snapshot, backup } } }
}
