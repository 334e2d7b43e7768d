// What the kit does to a machine when the provider under test is as bad as can be. The provider
// lives on a host that is a directory; around it are files at every place that a behaviour could
// name. Each behaviour of the kit runs, and none of these files may change.
import { mkdirSync, writeFileSync } from 'node:fs'
import { TestSampler } from '@helix-agents/core/testing'
import {
  type Decoys,
  ProviderSubject,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { expect, test } from 'vitest'
import { type Bugs, createDirectoryProvider } from './directory-provider.ts'
import { ThrowAwayHost } from './throw-away-host.ts'

const sampler = new TestSampler()

/** Those that remove, move, forge, or name something in the backend; an exhaustive run takes all. */
const REACHES_OUT =
  /^(refs|lifecycle|config|isolation|snapshot)\/|^fs\/(rm|move|copy|path|mkdir)\/|^fs\/write\/creates/

/** Of the others, beside those that catch the mistake. */
const SAMPLED_BEHAVIOURS = 15

const applicable = workspaceBehaviours.filter(
  ({ id, needs = [] }) =>
    needs.every((need) => ['fs', 'snapshot'].includes(need)) &&
    (sampler.isExhaustive || REACHES_OUT.test(id)),
)

const FORGED_REF = 'refs/invalid/a-forged-payload-opens-nothing'
const BESIDE = 'isolation/files/beside-the-workspace-are-out-of-reach'
const ESCAPE = 'fs/path/escape-is-rejected'
const FORGED_SNAPSHOT = 'snapshot/restore/a-forged-ref-brings-nothing'

/** Files at a place of their own, to which ids and paths lead: what a provider's own test gives. */
function makeDecoys(host: ThrowAwayHost): Decoys {
  mkdirSync(host.path('/data/decoys'), { recursive: true })
  writeFileSync(host.path('/data/decoys/file'), 'decoy')
  return {
    ids: ['../decoys', '/data/decoys'],
    paths: ['/../../decoys/file', '/../../decoys'],
    isIntact: async () => host.isIntact('/data/decoys/file', 'decoy'),
  }
}

interface Verdict {
  readonly failed: readonly string[]
  readonly damage: readonly string[]
}

/** Runs behaviours as a test runner does. */
async function judge(bugs: Bugs, withDecoys: boolean, ids?: readonly string[]): Promise<Verdict> {
  const [failed, damage]: [string[], string[]] = [[], []]
  let host = new ThrowAwayHost()
  for (const behaviour of applicable) {
    if (ids?.includes(behaviour.id) === false) continue
    const provider = createDirectoryProvider(host, bugs)
    const decoys = withDecoys ? { decoys: makeDecoys(host) } : {}
    const harness = { provider, config: { kind: 'directory' }, ...decoys }
    const subject = new ProviderSubject(harness, { fs: true, snapshot: true })
    const run = behaviour.run(subject).finally(() => subject.dispose())
    const [outcome] = await Promise.allSettled([run])
    if (outcome.status === 'rejected') failed.push(behaviour.id)
    const lost = host.damage()
    if (lost.length === 0) continue
    damage.push(`${behaviour.id}: ${lost.join(' ')}`)
    host.dispose()
    host = new ThrowAwayHost()
  }
  host.dispose()
  return { failed, damage }
}

const bugs: Readonly<
  Record<
    string,
    { readonly bugs: Bugs; readonly caught: readonly string[]; readonly aimed?: readonly string[] }
  >
> = {
  'joins the id of a ref': {
    bugs: { trustIds: 'join' },
    caught: [FORGED_REF],
    aimed: [FORGED_REF],
  },
  'resolves the id of a ref': {
    bugs: { trustIds: 'resolve' },
    caught: [FORGED_REF],
    aimed: [FORGED_REF],
  },
  'makes what a ref names': {
    bugs: { trustIds: 'make' },
    caught: [FORGED_REF],
    aimed: [FORGED_REF],
  },
  'removes what a ref names, even on detach': {
    bugs: { trustIds: 'resolve', removeOnDetach: true },
    caught: [FORGED_REF],
    aimed: [FORGED_REF],
  },
  'follows dots in rm': { bugs: { followDots: ['rm'] }, caught: [ESCAPE, BESIDE], aimed: [BESIDE] },
  'follows dots in move': {
    bugs: { followDots: ['move'] },
    caught: [ESCAPE, BESIDE],
    aimed: [BESIDE],
  },
  'follows dots in copy': {
    bugs: { followDots: ['copy'] },
    caught: [ESCAPE, BESIDE],
    aimed: [BESIDE],
  },
  'follows dots in every write': {
    bugs: { followDots: ['writeFile', 'appendFile', 'writeStream', 'mkdir'] },
    caught: [ESCAPE, BESIDE],
  },
  'copies what a snapshot names': {
    bugs: { trustSnapshots: 'copy' },
    caught: [FORGED_SNAPSHOT],
    aimed: [FORGED_SNAPSHOT],
  },
  'moves what a snapshot names': {
    bugs: { trustSnapshots: 'move' },
    caught: [FORGED_SNAPSHOT],
    aimed: [FORGED_SNAPSHOT],
  },
  'adopts what a snapshot names': {
    bugs: { trustSnapshots: 'adopt', trustIds: 'join' },
    caught: [FORGED_REF],
    aimed: [FORGED_SNAPSHOT],
  },
  'makes a path of the session': {
    bugs: { nameOf: ({ sessionId }) => sessionId },
    caught: ['lifecycle/sharing/two-names-of-one-session-never-share'],
  },
  'makes a path of the name': {
    bugs: { nameOf: (_, workspace) => workspace },
    caught: ['lifecycle/sharing/two-sessions-never-share'],
  },
  'opens the directory of all workspaces': {
    bugs: { nameOf: () => '.' },
    caught: ['lifecycle/open/is-created-with-a-ref', 'lifecycle/close/twice-is-fine'],
  },
  'takes every path for one of the host': {
    bugs: {
      forgetRoot: [
        'readFile',
        'writeFile',
        'appendFile',
        'ls',
        'stat',
        'mkdir',
        'rm',
        'copy',
        'move',
      ],
    },
    caught: ['fs/rm/removes-a-file'],
  },
  'takes a path for one of the host in rm': {
    bugs: { forgetRoot: ['rm'] },
    caught: ['fs/rm/removes-a-file'],
  },
  'takes the root for that of the host in rm': {
    bugs: { forgetInRm: 'root' },
    caught: ['fs/rm/the-root-is-emptied-and-stays'],
  },
  'takes a path for one of the host in a recursive rm': {
    bugs: { forgetInRm: 'recursive' },
    caught: ['fs/rm/recursive-removes-the-subtree', 'fs/rm/the-root-is-emptied-and-stays'],
  },
  'takes a path for one of the host in move': {
    bugs: { forgetRoot: ['move'] },
    caught: ['fs/move/overwrite-replaces-a-file'],
  },
  'takes a path for one of the host in copy': {
    bugs: { forgetRoot: ['copy'] },
    caught: ['fs/copy/overwrite-replaces-a-file'],
  },
  'takes a path for one of the host in every write': {
    bugs: { forgetRoot: ['writeFile', 'appendFile', 'writeStream', 'mkdir'] },
    caught: ['fs/write/creates-the-parents'],
  },
}

test('a provider without these mistakes keeps the clauses that look for them', async () => {
  const { failed, damage } = await judge({}, true)
  const wanted = Object.values(bugs).flatMap(({ caught }) => caught)
  expect(damage).toEqual([])
  expect(failed.filter((id) => wanted.includes(id))).toEqual([])
}, 120_000)

test.each(Object.entries(bugs))(
  'a provider that %s harms nothing',
  async (name, { bugs: wrong, caught }) => {
    const others = applicable.map(({ id }) => id).filter((id) => !caught.includes(id))
    const ids = [...caught, ...sampler.pick(name, others, SAMPLED_BEHAVIOURS)]
    const { failed, damage } = await judge(wrong, false, ids)
    expect(damage).toEqual([])
    expect(failed).toEqual(expect.arrayContaining([...caught]))
  },
  120_000,
)

const aimed = Object.entries(bugs).flatMap(([name, { bugs: wrong, aimed: ids }]) =>
  ids === undefined ? [] : [{ name, wrong, ids }],
)

test.each(aimed)(
  'a provider that $name is caught at the decoys of its harness',
  async (one) => {
    const { failed, damage } = await judge(one.wrong, true, one.ids)
    expect([failed, damage]).toEqual([one.ids, []])
  },
  120_000,
)
