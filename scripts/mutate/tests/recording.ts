import type { CoverageMap } from '../coverage-map.ts'
import { RECORDING } from './protocol.ts'
import type { TestServer } from './test-server.ts'
import type { Judging } from '../waves.ts'

/** Files whose tests are recorded in one process. */
const FILES_A_RECORDING = 20
/** Only what hangs takes so long. */
const RECORDING_LIMIT_MS = 900_000
const LONE_LIMIT_MS = 300_000

/** What records. */
type Recording = Pick<Judging, 'name' | 'print' | 'until' | 'servers'>

/** Runs tests once, to know which of them reach what. */
export async function record(
  recording: Recording,
  files: readonly string[],
  coverage: CoverageMap,
): Promise<void> {
  const { name, print, until, servers } = recording
  const failing = new Set(coverage.failing)
  const size = Math.min(FILES_A_RECORDING, Math.ceil(files.length / servers.length))
  const batches = batchesOf(files, size).values()
  let count = 0
  const recordBy = async (server: TestServer): Promise<void> => {
    // All servers take from one iterator.
    for (const batch of batches) {
      if (Date.now() >= until) return
      await recordBatch(recording, server, batch, coverage)
      count += batch.length
      print(`${name}: ${count} of ${files.length} files of tests recorded`)
    }
  }
  await Promise.all(servers.map(recordBy))
  for (const report of coverage.failing) {
    if (failing.has(report)) continue
    print(`${name}: ${report.file} fails without a mutant: ${report.failure}`)
  }
}

function batchesOf(files: readonly string[], size: number): readonly (readonly string[])[] {
  if (files.length === 0) return []
  return [files.slice(0, size), ...batchesOf(files.slice(size), size)]
}

/** One that hangs or ends its process takes the others with it: then each runs alone. */
async function recordBatch(
  recording: Recording,
  server: TestServer,
  files: readonly string[],
  coverage: CoverageMap,
): Promise<void> {
  const { name, print } = recording
  const limitMs = files.length > 1 ? RECORDING_LIMIT_MS : LONE_LIMIT_MS
  const tests = files.map((file) => ({ file }))
  const end = await server.run({ mutant: RECORDING, tests, processes: 'new', limitMs })
  const { files: reports, errors } = typeof end === 'string' ? { files: [], errors: [end] } : end
  for (const report of reports) coverage.add(report)
  for (const error of errors) print(`${name}: without a mutant: ${error}: ${files.join(' ')}`)
  const reported = new Set(reports.map(({ file }) => file))
  const missing = files.filter((file) => !reported.has(file))
  if (files.length > 1) {
    for (const file of missing) await recordBatch(recording, server, [file], coverage)
  } else for (const file of missing) print(`${name}: ${file} is left out`)
}
