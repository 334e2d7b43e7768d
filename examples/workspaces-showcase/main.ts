// One agent, four places it can live, two processes; the first is killed. See README.md.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ModelError } from '@helix-agents/core'
import { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
import { goBack } from './going-back.ts'
import { runHostedStage } from './hosted-stage.ts'
import { paint } from './narrator.ts'
import { killGroup } from './process-group.ts'
import { isHosted, isKind, type Kind, kinds } from './providers.ts'
import { chooseSandboxEngine } from './sandbox-engine.ts'
import { type Report, runStage, type Stage } from './stage.ts'

const usage = `usage: pnpm demo [--provider <workspace>] [--kill-after <calls>]

  --provider  one of ${kinds.join(', ')}; default: the variable WORKSPACE, or local-bash
  --kill-after  calls after which the first process of a real model is killed; default 8

The variable MODEL takes a real model: see README.md.`

const options = {
  provider: { type: 'string', default: process.env.WORKSPACE ?? 'local-bash' },
  help: { type: 'boolean', default: false },
  'kill-after': { type: 'string', default: '8' },
  // For the two processes that this one starts.
  part: { type: 'string' },
  folder: { type: 'string', default: '' },
  from: { type: 'string', default: '1' },
} as const

const isReal = (process.env.MODEL ?? '') !== ''

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
  const problem = await problemOfModel()
  if (problem !== undefined) return refuse(problem)
  const killAfterCalls = isReal ? Number(values['kill-after']) : Infinity
  if (part === undefined) return playWhereItCan(kind, values['kill-after'])
  const stage = { kind, part: part === 'first' ? 'first' : 'second', folder } as const
  await playStage({ ...stage, fromSequence: Number(values.from), killAfterCalls })
  return Number(process.exitCode ?? 0)
}

/** Why the model that was asked for cannot be used. */
async function problemOfModel(): Promise<string | undefined> {
  try {
    await modelFromEnvironment(process.env)
    return undefined
  } catch (error) {
    if (ModelError.isInstance(error)) return error.message
    throw error
  }
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

/** Containers need more of a machine than the other kinds: it is checked first. */
async function playWhereItCan(kind: Kind, killAfter: string): Promise<number> {
  if (kind !== 'cloudflare-sandbox') return playBothParts(kind, killAfter)
  const engine = await chooseSandboxEngine()
  if (engine.name === undefined) return refuse(`${kind} is not available here: ${engine.reason}`)
  console.log(`containers: ${engine.description}`)
  return playBothParts(kind, killAfter)
}

/** Each part in a process of its own; nothing but the folder connects them. */
async function playBothParts(kind: Kind, killAfter: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'helix-showcase-'))
  try {
    const model = process.env.MODEL ?? ''
    console.log(isReal ? `model: ${model}` : 'model: scripted (MODEL=provider/name takes another)')
    title(`first process, workspace ${kind}`)
    const first = await playPart({ kind, part: 'first', folder, fromSequence: 1 }, killAfter)
    if (first === undefined) return 1
    if (first.status === 'completed') return endEarly(first)
    console.log(paint('red', `\n✂ kill -9 ${first.pid}`))
    title('second process: resumes the session')
    const fromSequence = first.lastSequence + 1
    const second = await playPart({ kind, part: 'second', folder, fromSequence }, killAfter)
    if (second === undefined) return 1
    if (kind === 'local-bash' && !isReal) {
      title('third: the user goes back, with the files')
      await goBack(folder)
    }
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
async function playPart(
  { kind, part, folder, fromSequence }: Omit<Stage, 'killAfterCalls'>,
  killAfter: string,
): Promise<Report | undefined> {
  const args = ['--provider', kind, '--part', part, '--folder', folder, '--kill-after', killAfter]
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
  const isAsTold = dies(kind, report) ? signal === 'SIGKILL' : code === 0
  if (!isAsTold) console.error(`\nthe ${part} process ended with ${signal ?? code}`)
  return isAsTold ? report : undefined
}

/** The agent is in the process itself, and that was killed. */
function dies(kind: Kind, report: Report | undefined): boolean {
  return !isHosted(kind) && report?.status === 'killable'
}

/** A real model was done before its process could be killed. */
function endEarly(report: Report): number {
  summarise([report])
  console.log('\nok: the session completed in its first process; --kill-after takes fewer calls')
  return isReal ? 0 : 1
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
  const expected = kind === 'local-bash' || kind === 'cloudflare-sandbox' ? [0, 1] : [0, 0]
  // Calls of a real model may fail, and so may what was under way when it was killed.
  const isAsTold = isReal || (!failed && String(unknown) === String(expected))
  if (left.length === 0 && isAsTold) {
    console.log('\nok: the session was killed in one process and completed in another')
    return 0
  }
  console.error(`\nthe story went wrong: ${JSON.stringify({ left, failed, unknown })}`)
  return 1
}
