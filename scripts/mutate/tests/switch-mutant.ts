// Runs before every other setup of a file of tests, in Node and in workerd: switches the mutant on
// in this process and in those it starts, and tells which mutants each test reaches.
import { afterAll, afterEach, beforeAll, beforeEach, inject, type TaskMeta, vi } from 'vitest'
import { ACTIVE_MUTANT, REACHED_FILE, RECORDING } from './protocol.ts'
import { ReachedMutants } from './reached.ts'

const active = inject('helixMutant')
const testTimeout = inject('helixTestTimeout')
if (testTimeout > 0) vi.setConfig({ testTimeout })
// One state for all files of a process: what it has loaded for one file, others use too.
const { reached, loaded } = globalThis.helixMutants ?? { reached: new Set(), loaded: new Set() }
globalThis.helixMutants = { active, reached, loaded, loading: 0 }

// Workers have neither processes nor files.
const node = globalThis.process?.getBuiltinModule?.('node:process')
const isNode = node?.versions?.node !== undefined && navigator.userAgent !== 'Cloudflare-Workers'
if (isNode) process.env[ACTIVE_MUTANT] = `${active}`

if (active === RECORDING) {
  const fileOfOthers = isNode ? prepareFile() : undefined
  const mutants = (globalThis.helixReached ??= new ReachedMutants(reached, loaded))
  let meta: TaskMeta = {}
  mutants.startFile()
  beforeAll(() => mutants.endLoading())
  beforeEach(({ task }) => {
    meta = task.file.meta
    mutants.start(task.id)
  })
  afterEach(({ task }) => {
    task.meta.mutants = mutants.end(task.id)
  })
  afterAll(() => {
    meta.loadedMutants = mutants.loaded
    meta.mutants = [...mutants.outside, ...(fileOfOthers ? idsIn(fileOfOthers) : [])]
  })
}

/** The file to which processes and threads of the tests add what they reach. */
function prepareFile(): string {
  const { tmpdir } = process.getBuiltinModule('node:os')
  // Numbers of processes are those of a namespace, which may share its temporary folder.
  const file = `${tmpdir()}/helix-reached-${crypto.randomUUID()}`
  process.env[REACHED_FILE] = file
  return file
}

/** What the file names; it starts empty for the next file of tests. */
function idsIn(file: string): number[] {
  const { existsSync, readFileSync, rmSync } = process.getBuiltinModule('node:fs')
  if (!existsSync(file)) return []
  const ids = readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number)
  rmSync(file)
  return ids
}

declare global {
  var helixReached: ReachedMutants | undefined
}
