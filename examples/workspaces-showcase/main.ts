// One agent, four places it can live, two processes; the first is killed. See README.md.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runHostedStage } from './hosted-stage.ts'
import { killGroup } from './local-worker.ts'
import { paint } from './narrator.ts'
import { isAvailable, isHosted, isKind, type Kind, kinds } from './providers.ts'
import { type Report, runStage, type Stage } from './stage.ts'

const usage = `usage: pnpm demo [--provider <workspace>]

  --provider  one of ${kinds.join(', ')}; default: the variable WORKSPACE, or local-bash`

const options = {
  provider: { type: 'string', default: process.env.WORKSPACE ?? 'local-bash' },
  help: { type: 'boolean', default: false },
  // For the two processes that this one starts.
  part: { type: 'string' },
  folder: { type: 'string', default: '' },
  from: { type: 'string', default: '1' },
} as const

const interrupts = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

if (import.meta.main) process.exitCode = await main()

async function main(): Promise<number> {
  const values = readArguments()
  if (typeof values === 'string') return refuse(`${values}\n\n${usage}`)
  const { provider: kind, part, folder } = values
  if (values.help) {
    console.log(usage)
    return 0
  }
  if (!isKind(kind)) return refuse(`unknown workspace "${kind}"; choose one of ${kinds.join(', ')}`)
  if (!isAvailable(kind)) {
    const available = kinds.filter(isAvailable).join(', ')
    return refuse(`the workspace ${kind} is not available yet; available: ${available}`)
  }
  if (part === undefined) return playBothParts(kind)
  const stage = { kind, part: part === 'first' ? 'first' : 'second', folder } as const
  await playStage({ ...stage, fromSequence: Number(values.from) })
  return 0
}

/** What the two processes do that this program starts. */
async function playStage(stage: Stage): Promise<void> {
  process.once('disconnect', endAlone)
  const run = isHosted(stage.kind) ? runHostedStage : runStage
  await run(stage, (report) => process.send?.(report))
  process.off('disconnect', endAlone)
  process.disconnect()
}

/** The program that has started this process is gone. */
function endAlone(): never {
  process.exit(1)
}

/** The options, or what is wrong with them. */
function readArguments() {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function refuse(reason: string): number {
  console.error(reason)
  return 2
}

/** Each part in a process of its own; nothing but the folder connects them. */
async function playBothParts(kind: Kind): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'helix-showcase-'))
  try {
    title(`first process, workspace ${kind}`)
    const first = await playPart({ kind, part: 'first', folder, fromSequence: 1 })
    if (first === undefined) return 1
    console.log(paint('red', `\n✂ kill -9 ${first.pid}`))
    title('second process: resumes the session')
    const fromSequence = first.lastSequence + 1
    const second = await playPart({ kind, part: 'second', folder, fromSequence })
    if (second === undefined) return 1
    const reports = [first, second]
    summarise(reports)
    return checkEnd(reports, { kind, folder })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Starts a process and kills it once it says that it is in the middle of its work. The agent of a
 * hosted kind is not in that process but in the workerd that it has started: that is what dies.
 */
async function playPart({ kind, part, folder, fromSequence }: Stage): Promise<Report | undefined> {
  const args = ['--provider', kind, '--part', part, '--folder', folder]
  const child = fork(import.meta.filename, [...args, '--from', String(fromSequence)])
  const ended = once(child, 'exit')
  const kill = isHosted(kind) ? killGroup : () => child.kill('SIGKILL')
  let report: Report | undefined
  child.on('message', (message) => {
    report = message as Report
    if (report.status === 'killable') kill(report.pid)
  })
  const interrupt = (): void => void child.kill('SIGTERM')
  for (const name of interrupts) process.on(name, interrupt)
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  for (const name of interrupts) process.off(name, interrupt)
  const isAsTold = part === 'first' && !isHosted(kind) ? signal === 'SIGKILL' : code === 0
  if (!isAsTold) console.error(`\nthe ${part} process ended with ${signal ?? code}`)
  return isAsTold ? report : undefined
}

function title(text: string): void {
  console.log(paint('bold', `\n── ${text} ${'─'.repeat(Math.max(3, 60 - text.length))}`))
}

function summarise(reports: readonly Report[]): void {
  title('summary')
  for (const { pid, status, tally, wallMs, workspaces } of reports) {
    const end = status === 'completed' ? 'completed' : 'killed'
    const calls = Object.entries(tally.calls).map(([tool, count]) => `${tool} ×${count}`)
    console.log(`process ${pid}: ${end} after ${wallMs} ms, ${tally.toolMs} ms of it in tools`)
    console.log(`  tools      ${calls.join(', ')}; ${tally.unknownCalls} with unknown outcome`)
    console.log(`  bytes      ${tally.argumentBytes} in arguments, ${tally.resultBytes} in results`)
    for (const { name, providerId, state, isolation, receipt, evictions, retries } of workspaces) {
      const facts = [providerId, state, `isolation ${isolation}`, `receipt ${receipt?.outcome}`]
      facts.push(`${evictions} evictions`, `${retries} retries`)
      console.log(`  workspace  ${name}: ${facts.join(', ')}`)
    }
  }
}

interface Place {
  readonly kind: Kind
  readonly folder: string
}

/** The story is over when another process ended it, knew what it could not know, and left nothing. */
function checkEnd(reports: readonly Report[], { kind, folder }: Place): number {
  const left = readdirSync(folder).filter((name) => name.startsWith('helix-ws-'))
  const unknown = reports.map(({ tally }) => tally.unknownCalls)
  const failed = reports.some(({ tally }) => tally.failedCalls > tally.unknownCalls)
  const expected = kind === 'local-bash' ? [0, 1] : [0, 0]
  if (left.length === 0 && !failed && String(unknown) === String(expected)) {
    console.log('\nok: the session was killed in one process and completed in another')
    return 0
  }
  console.error(`\nthe story went wrong: ${JSON.stringify({ left, failed, unknown })}`)
  return 1
}
