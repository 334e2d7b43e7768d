// Our driver of Cloudflare Sandbox beside the bare call of the SDK, on the test bed.
//
// The container of the test bed reads and writes small files without a process, where ours always
// asks a shell in the container: the row `nothing`, a bare command that does nothing, is the least
// that any operation of ours can cost. What the real server takes longer for, the test bed does too:
// listings, looking a file up, reading one without an extension.
import { join } from 'node:path'
import { sandboxTestbedAvailability, startSandboxTestbed } from '@helix-agents/sandbox-testbed'
import { report, type Verdict } from '../harness/report.ts'
import type { SandboxFigures } from '../workers/sandbox/worker.ts'

const TASKS = [
  'run',
  'write 4 KiB',
  'write 4 KiB if unchanged',
  'read 4 KiB',
  'ls',
  'stat',
  'code',
  'write 8 MiB',
  'read 8 MiB',
]
const OURS = 'workspace-cloudflare-sandbox'
const LIMIT = 'bare call of the SDK'
/** The bar: ten percent, or a millisecond. */
const SHARE = 1.1
const SPARE_MICROSECONDS = 1000

export async function run(): Promise<Verdict[]> {
  const here = await sandboxTestbedAvailability()
  if (!here.available) {
    console.log(`\nsandbox: skipped, ${here.reason}`)
    return []
  }
  const entry = join(import.meta.dirname, '../workers/sandbox/worker.ts')
  await using testbed = await startSandboxTestbed({ worker: { entry }, costs: 'recorded' })
  const figures = (await (await testbed.fetch('/')).json()) as SandboxFigures
  console.log(`\nsandbox: nothing, by a shell ${milliseconds(figures, 'nothing')} ms`)
  return [...TASKS.map((task) => judge(task, figures)), judgeIsolate(figures)]
}

function judge(task: string, figures: SandboxFigures): Verdict {
  const [ours, limit] = [figures[task], figures[`bare ${task}`]]
  if (ours === undefined || limit === undefined) throw new Error(`no figures of ${task}`)
  return report({
    title: `sandbox: ${task} (calls of the SDK: ours ${ours.calls}, bare ${limit.calls})`,
    ours: OURS,
    limit: LIMIT,
    measurements: [
      { name: OURS, microseconds: ours.microseconds },
      { name: LIMIT, microseconds: limit.microseconds },
    ],
    gate: { most: Math.max(SHARE, 1 + SPARE_MICROSECONDS / limit.microseconds) },
    unit: 'ms',
  })
}

/** A command of the shell engine beside the same in the container. */
function judgeIsolate(figures: SandboxFigures): Verdict {
  const [ours, limit] = ['run in the isolate', 'run'] as const
  const of = (name: string): number => figures[name]?.microseconds ?? Number.NaN
  return report({
    title: 'sandbox: run without a container',
    ours,
    limit,
    measurements: [ours, limit].map((name) => ({ name, microseconds: of(name) })),
    gate: { most: 0.1 },
    unit: 'ms',
  })
}

function milliseconds(figures: SandboxFigures, task: string): string {
  return ((figures[task]?.microseconds ?? Number.NaN) / 1000).toFixed(2)
}
