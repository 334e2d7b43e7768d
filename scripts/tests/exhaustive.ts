// node scripts/tests/exhaustive.ts --minutes 40: everything that tests otherwise sample, package by
// package. Each gets an equal share of the time that is left; what it does not end in it is said.
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { root } from '../repository.ts'
import { filesWithSamples } from './files-with-samples.ts'

type Outcome = 'passed' | 'failed' | 'cut'

/** To end what has been started. */
const GRACE_MS = 15_000

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '40' } } })
const end = Date.now() + Number(values.minutes) * 60_000

const packages = Object.entries(
  Object.groupBy(filesWithSamples(root), (file) => file.split('/').slice(0, 2).join('/')),
)
const cut: string[] = []
for (const [index, [folder, files = []]] of packages.entries()) {
  const share = (end - Date.now()) / (packages.length - index)
  const outcome = await runWhole(files, share)
  if (outcome === 'failed') process.exitCode = 1
  if (outcome === 'cut') cut.push(folder)
}
for (const folder of cut)
  console.log(`not ended in its time: HELIX_EXHAUSTIVE=1 pnpm test ${folder}`)
console.log(`${packages.length - cut.length} of ${packages.length} packages were run whole`)

async function runWhole(files: readonly string[], limitMs: number): Promise<Outcome> {
  // A failure ends the run, so that none is lost when its time is over.
  const options = ['run', '--config', 'vitest.workspace.ts', '--bail', '1']
  const args = ['node_modules/vitest/vitest.mjs', ...options, ...files]
  const env = { ...process.env, HELIX_EXHAUSTIVE: '1' }
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit', detached: true })
  // The group: vitest, its workers, and what their tests have started.
  const stop = (signal: NodeJS.Signals) => () => process.kill(-(child.pid ?? Number.NaN), signal)
  const timers = [
    setTimeout(stop('SIGINT'), limitMs),
    setTimeout(stop('SIGKILL'), limitMs + GRACE_MS),
  ]
  const startedAt = Date.now()
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  for (const timer of timers) clearTimeout(timer)
  if (Date.now() - startedAt >= limitMs) return 'cut'
  return code === 0 ? 'passed' : 'failed'
}
