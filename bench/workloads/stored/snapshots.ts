// Snapshots of 10,000 files: in local-bash beside what git and tar do with the same files; in memory.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SnapshotRef } from '@helix-agents/core/provider'
import { measure, type Measurement, median } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'
import { openMemorySnapshots, openSnapshots, temporaryFolder } from '../../harness/workspaces.ts'

const FILES = 10_000
const ROUNDS = 15
const RESTORES = 9
const FIRSTS = 3
const MEMORY_GOAL_MS = 1
const CHANGED = 'd0/s0/file-1.ts'

export async function run(): Promise<Verdict[]> {
  return [await first(), ...(await onDisk()), await inMemory()]
}

/** Everything is read, hashed and stored, each time in a new directory and a new repository. */
async function first(): Promise<Verdict> {
  const folder = temporaryFolder()
  const opened: Opened[] = []
  const repository = (round: number): string => join(folder.path, `git${round}`)
  try {
    for (let round = 0; round < FIRSTS; round++) {
      const own = join(folder.path, `own${round}`)
      mkdirSync(own)
      const workspace = await openSnapshots(own)
      opened.push(workspace)
      for (const root of [workspace.root, repository(round)]) fill(root)
      git(repository(round), 'init', '-q')
    }
    return report({
      title: `snapshots: the first of ${FILES} files`,
      ours: 'helix local-bash',
      limit: 'git add -A && git commit',
      measurements: await inTurns(FIRSTS, [
        { name: 'git add -A && git commit', run: async (round) => commit(repository(round)) },
        { name: 'helix local-bash', run: async (round) => opened[round]?.snapshots.snapshot() },
      ]),
      gate: { most: 1.3 },
      unit: 'ms',
    })
  } finally {
    for (const workspace of opened) await workspace.close()
    folder.remove()
  }
}

/** A write and a snapshot: neither may grow with the files that did not change. */
async function inMemory(): Promise<Verdict> {
  const { fs, snapshots } = await openMemorySnapshots()
  for (let i = 0; i < FILES; i++) await fs.writeFile(`/${pathOf(i)}`, textOf(i))
  const [ours] = await measure([
    {
      name: 'helix in-memory',
      run: async (times) => {
        for (let i = 0; i < times; i++) {
          await fs.writeFile(`/${CHANGED}`, `${i}\n`)
          await snapshots.snapshot()
        }
      },
    },
  ])
  return report({
    title: `snapshots: one of ${FILES} files changed, in memory`,
    ours: 'helix in-memory',
    limit: 'goal',
    measurements: [{ name: 'goal', microseconds: MEMORY_GOAL_MS * 1000 }, ...(ours ? [ours] : [])],
    gate: { most: 1 },
  })
}

async function onDisk(): Promise<Verdict[]> {
  const folder = temporaryFolder()
  const workspace = await openSnapshots(folder.path)
  const repository = join(folder.path, 'git')
  try {
    for (const root of [workspace.root, repository]) fill(root)
    git(repository, 'init', '-q')
    const taken = await workspace.snapshots.snapshot()
    commit(repository)
    const archive = join(folder.path, 'all.tar')
    execFileSync('tar', ['-cf', archive, '-C', workspace.root, '.'])
    const snapshots = await timeSnapshots(workspace, repository)
    const restores = await timeRestores(workspace, taken, { repository, archive })
    return [
      report({
        title: `snapshots: one of ${FILES} files changed`,
        ours: 'helix local-bash',
        limit: 'git add -A && git commit',
        measurements: snapshots,
        gate: { most: 1 },
        unit: 'ms',
      }),
      report({
        title: `snapshots: ${FILES} files come back`,
        ours: 'helix local-bash',
        limit: 'git checkout',
        measurements: restores,
        gate: { most: 1.3 },
        unit: 'ms',
      }),
    ]
  } finally {
    await workspace.close()
    folder.remove()
  }
}

type Opened = Awaited<ReturnType<typeof openSnapshots>>

async function timeSnapshots({ root, snapshots }: Opened, repository: string) {
  return inTurns(ROUNDS, [
    {
      name: 'git add -A && git commit',
      prepare: (round) => change(repository, round),
      run: async () => commit(repository),
    },
    {
      name: 'helix local-bash',
      prepare: (round) => change(root, round),
      run: () => snapshots.snapshot(),
    },
  ])
}

async function timeRestores(
  { snapshots }: Opened,
  taken: SnapshotRef,
  { repository, archive }: { readonly repository: string; readonly archive: string },
) {
  const out = (name: string, round: number): string => join(dirname(repository), name + round)
  return inTurns(RESTORES, [
    {
      name: 'git checkout',
      run: async (round) => git(repository, 'worktree', 'add', '-q', out('git', round)),
    },
    { name: 'helix local-bash', run: () => snapshots.restore(taken) },
    {
      name: 'tar -x',
      prepare: (round) => mkdirSync(out('tar', round)),
      run: async (round) => execFileSync('tar', ['-xf', archive, '-C', out('tar', round)]),
    },
  ])
}

interface Turn {
  readonly name: string
  readonly prepare?: (round: number) => unknown
  readonly run: (round: number) => Promise<unknown>
}

/**
 * Each in its turn, in a rotated order. Nothing is removed in between: ext4 passes over the inodes of
 * removed files one by one for minutes, whoever makes the next file.
 */
async function inTurns(rounds: number, turns: readonly Turn[]): Promise<Measurement[]> {
  const samples = turns.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < turns.length; i++) {
      const at = (i + round) % turns.length
      turns[at]?.prepare?.(round)
      samples[at]?.push(await time(async () => turns[at]?.run(round)))
    }
  }
  return turns.map(({ name }, at) => ({ name, microseconds: median(samples[at] ?? []) }))
}

async function time(task: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await task()
  return (performance.now() - start) * 1000
}

function change(root: string, round: number): void {
  appendFileSync(join(root, CHANGED), `${round}\n`)
}

function fill(root: string): void {
  for (let i = 0; i < FILES; i++) {
    const path = join(root, pathOf(i))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, textOf(i))
  }
}

function pathOf(i: number): string {
  return `d${(i / 1000) | 0}/s${((i / 100) | 0) % 10}/file-${i % 100}.ts`
}

function textOf(i: number): string {
  return `// ${i}\n`.repeat(10 + (i % 200))
}

function commit(repository: string): void {
  git(repository, 'add', '-A')
  git(repository, '-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '-q', '-m', 'x')
}

function git(repository: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd: repository, stdio: 'ignore' })
}
