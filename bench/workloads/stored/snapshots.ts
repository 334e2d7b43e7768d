// Snapshots of 10,000 files in local-bash, beside what git and tar do with the same files.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SnapshotRef } from '@helix-agents/core/provider'
import { median } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'
import { openSnapshots, temporaryFolder } from '../../harness/workspaces.ts'

const FILES = 10_000
const ROUNDS = 15
const RESTORES = 3
const CHANGED = 'd0/s0/file-1.ts'

export async function run(): Promise<Verdict[]> {
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
  const [ours, theirs]: number[][] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of [root, repository]) appendFileSync(join(each, CHANGED), `${round}\n`)
    ours?.push(await time(() => snapshots.snapshot()))
    theirs?.push(await time(async () => commit(repository)))
  }
  return [
    { name: 'git add -A && git commit', microseconds: median(theirs ?? []) },
    { name: 'helix local-bash', microseconds: median(ours ?? []) },
  ]
}

async function timeRestores(
  { snapshots }: Opened,
  taken: SnapshotRef,
  { repository, archive }: { readonly repository: string; readonly archive: string },
) {
  const [ours, theirs, tar]: number[][] = [[], [], []]
  for (let round = 0; round < RESTORES; round++) {
    const out = join(dirname(repository), `out-${round}`)
    ours?.push(await time(() => snapshots.restore(taken)))
    theirs?.push(await time(async () => git(repository, 'worktree', 'add', '-q', out)))
    const unpacked = join(dirname(repository), `tar-${round}`)
    mkdirSync(unpacked)
    tar?.push(await time(async () => execFileSync('tar', ['-xf', archive, '-C', unpacked])))
    for (const each of [out, unpacked]) rmSync(each, { recursive: true })
  }
  return [
    { name: 'git checkout', microseconds: median(theirs ?? []) },
    { name: 'helix local-bash', microseconds: median(ours ?? []) },
    { name: 'tar -x', microseconds: median(tar ?? []) },
  ]
}

async function time(task: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await task()
  return (performance.now() - start) * 1000
}

function fill(root: string): void {
  for (let i = 0; i < FILES; i++) {
    const directory = join(root, `d${(i / 1000) | 0}/s${((i / 100) | 0) % 10}`)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `file-${i % 100}.ts`), `// ${i}\n`.repeat(10 + (i % 200)))
  }
}

function commit(repository: string): void {
  git(repository, 'add', '-A')
  git(repository, '-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '-q', '-m', 'x')
}

function git(repository: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd: repository, stdio: 'ignore' })
}
