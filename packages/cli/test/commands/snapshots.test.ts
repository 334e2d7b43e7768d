import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { DANGEROUS, type Ran, TestHost } from '../test-host.ts'

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})

const snapshots = async (...args: readonly string[]): Promise<Ran> =>
  host.run(['snapshots', ...args])

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'helix-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

function packed(files: Readonly<Record<string, string>>): Buffer {
  const folder = newFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text, { mode: 0o644 })
  }
  return execFileSync('tar', ['-C', folder, '-c', ...readdirSync(folder)])
}

/** Imports files as a snapshot. @returns its id */
async function imported(
  files: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<string> {
  const archive = join(newFolder(), 'in.tar')
  writeFileSync(archive, packed(files))
  const { code, out, err } = await snapshots('import', archive, '--scope', 'line-1', ...args)
  expect([code, err]).toEqual([0, expect.stringContaining('entries')])
  await host.clock.advance(60_000)
  return out.trim()
}

const first = { 'src/add.js': 'a - b\n', 'note.md': 'old\n' }
const second = { 'src/add.js': 'a + b\n', 'test.js': 'assert\n' }

it('imports, lists and shows', async () => {
  const id = await imported(first, '--session', 'repair-42', '--agent', 'repairer')
  const other = await imported(second, '--workspace', 'repo', '--store', 'there')
  expect(host.opened).toEqual(['undefined false', 'there true'])

  const { out } = await snapshots('list')
  expect(out.split('\n')).toEqual([
    'SNAPSHOT                              SESSION    WORKSPACE  PROVIDER  ENTRIES  SIZE   TAKEN',
    `${other}  imported   repo       import          3  13 B  1m ago`,
    `${id}  repair-42  imported   import          3  10 B  2m ago`,
    '',
  ])
  const listed = await host.json(['snapshots', 'list', '--session', 'repair-42'])
  expect(listed).toMatchObject({ items: [{ scope: 'line-1', snapshotId: id }], damaged: [] })

  const shown = await snapshots('show', id.slice(0, 12))
  expect(shown.out).toContain('agent      repairer\n')
  expect(shown.out).toMatch(/\nMODE  SIZE  PATH\n644    4 B  \/note.md\n7\d\d      -  \/src\/\n/)
})

it('compares', async () => {
  const ids = [await imported(first), await imported(second)]
  const { code, out } = await snapshots('diff', ...ids)
  expect([code, out.split('\n')]).toEqual([
    0,
    [
      'CHANGE   BEFORE  AFTER  PATH',
      'removed     4 B      -  /note.md',
      'changed     6 B    6 B  /src/add.js',
      'added         -    7 B  /test.js',
      '',
    ],
  ])
  expect(await snapshots('diff', ...ids.slice(0, 1), ...ids.slice(0, 1))).toMatchObject({
    code: 0,
    out: '',
    err: 'no differences\n',
  })
})

it('exports what tar and git read, and imports it again', async () => {
  const ids = [await imported(first), await imported(second)]
  const folder = newFolder()
  const tar = join(folder, 'out.tar')
  expect(await snapshots('export', ids[1] ?? '', '--tar', tar)).toMatchObject({ code: 0 })
  expect(execFileSync('tar', ['-tf', tar]).toString()).toBe('src/\nsrc/add.js\ntest.js\n')
  expect((await snapshots('export', ids[0] ?? '', '--tar', tar)).code).toBe(2)
  expect(readdirSync(folder)).toEqual(['out.tar'])

  const git = join(folder, 'out.git')
  const { code, out } = await snapshots('export', ...ids.toReversed(), '--git', git)
  expect([code, out.split('\n').map((line) => line.split(/ +/)[0])]).toEqual([
    0,
    ['SNAPSHOT', ...ids, ''],
  ])
  const changed = execFileSync('git', ['-C', git, 'diff', '--name-only', 'HEAD~1', 'HEAD'])
  expect(changed.toString()).toBe('note.md\nsrc/add.js\ntest.js\n')
  expect((await snapshots('export', ids[0] ?? '', '--git', folder)).code).toBe(2)

  const older = await snapshots('import', git, '--scope', 'line-3', '--commit', 'HEAD~1')
  const shown = await snapshots('show', older.out.trim(), '--entries', '1')
  expect(shown.out).toContain('/note.md\n')
  expect(shown.out).not.toContain('/src/add.js')
  expect((await snapshots('import', tar, '--scope', 'x', '--commit', 'HEAD')).code).toBe(2)

  for (const source of [tar, git]) {
    const again = await snapshots('import', source, '--scope', 'line-2')
    const { header } = await host.json(['snapshots', 'show', again.out.trim()])
    const [before] = (await host.snapshotStore.listManifests('line-1')).items
    expect(header).toMatchObject({ digest: before?.digest })
  }
})

it('reads gzip, and rejects a hostile archive whole', async () => {
  const folder = newFolder()
  const archive = join(folder, 'in.tar.gz')
  writeFileSync(archive, gzipSync(packed(first)))
  expect(await snapshots('import', archive, '--scope', 's')).toMatchObject({ code: 0 })

  const hostile = join(folder, 'hostile.tar')
  execFileSync('tar', ['-P', '--transform', 's,.*,../\x1b[2Jout,', '-cf', hostile, archive])
  writeFileSync(join(folder, 'cut.gz'), gzipSync(packed(second)).subarray(0, 80))
  for (const [file, problem] of [
    [hostile, 'path-escape'],
    [join(folder, 'cut.gz'), 'invalid-archive'],
  ]) {
    const { code, err } = await snapshots('import', file ?? '', '--scope', 'hostile')
    expect([code, err]).toEqual([1, expect.stringContaining(`(${problem})`)])
    expect(err).not.toMatch(DANGEROUS)
  }
  expect((await host.snapshotStore.listManifests('hostile')).items).toEqual([])
})

it('verifies, and names the files of what is damaged', async () => {
  const id = await imported(first)
  expect(await snapshots('verify')).toMatchObject({ code: 0, err: '1 snapshots, 0 damaged\n' })
  const getBlocks = host.snapshotStore.getBlocks.bind(host.snapshotStore)
  host.snapshotStore.getBlocks = async (scope, hashes) =>
    new Map([...(await getBlocks(scope, hashes))].slice(1))
  expect(await snapshots('verify')).toMatchObject({
    code: 1,
    out: `${id}: missing: /note.md\n`,
    err: '1 snapshots, 1 damaged\n',
  })
})

it('frees what no snapshot names, after the grace period', async () => {
  const id = await imported(first)
  await imported(second)
  await host.snapshotStore.deleteManifest('line-1', id)
  expect((await snapshots('gc')).err).toBe('freed 0 blocks, 0 B; kept 4\n')
  expect((await snapshots('gc', '--grace', '1m')).err).toBe('freed 2 blocks, 10 B; kept 2\n')
  expect(await snapshots('verify')).toMatchObject({ code: 0 })
})

it.each([
  [3, ['show', 'nothing']],
  [2, ['export', 'a']],
  [2, ['export', 'a', '--tar', 'x', '--git', 'y']],
  [2, ['export', 'a', 'b', '--tar', 'x']],
  [2, ['import', 'x']],
  [3, ['import', '/nowhere/x.tar', '--scope', 's']],
  [3, ['import', '/', '--scope', 's']],
  [2, ['gc', '--grace', '5']],
  [0, ['list']],
])('ends with %s for %j', async (code, args) => {
  expect((await snapshots(...args)).code).toBe(code)
  expect(existsSync('x')).toBe(false)
})

it('tells programs what was exported, and where', async () => {
  const ids = [await imported(first), await imported(second)]
  const folder = newFolder()
  const [tar, git] = [join(folder, 'out.tar'), join(folder, 'out.git')]
  const [id = ''] = ids
  expect(await host.json(['snapshots', 'export', id, '--tar', tar])).toMatchObject({
    file: tar,
    snapshotId: id,
    entries: 3,
  })
  expect(await host.json(['snapshots', 'export', ...ids, '--git', git])).toMatchObject({
    directory: git,
    commits: ids.map((snapshotId) => ({ snapshotId })),
  })
})
