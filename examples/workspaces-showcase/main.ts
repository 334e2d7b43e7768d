// One agent, four places it can live, two processes. See README.md.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { paint } from './narrator.ts'
import { isAvailable, isKind, type Kind, kinds } from './providers.ts'
import { type Report, runStage } from './stage.ts'

const parts = ['first', 'second'] as const
const titles = { first: 'first process', second: 'second process: resumes the session' } as const

const usage = `usage: pnpm demo [--provider <workspace>]

  --provider  one of ${kinds.join(', ')}; default: the variable WORKSPACE, or local-bash`

const options = {
  provider: { type: 'string', default: process.env.WORKSPACE ?? 'local-bash' },
  help: { type: 'boolean', default: false },
  // For the two processes that this one starts.
  part: { type: 'string' },
  folder: { type: 'string', default: '' },
} as const

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
  await runStage({ kind, part: part === 'first' ? 'first' : 'second', folder })
  return 0
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
function playBothParts(kind: Kind): number {
  const folder = mkdtempSync(join(tmpdir(), 'helix-showcase-'))
  try {
    for (const part of parts) {
      console.log(paint('bold', `\n── ${titles[part]}, workspace ${kind} ${'─'.repeat(20)}`))
      const code = playPart(kind, part, folder)
      if (code !== 0) return code
    }
    const reports = parts.map((part) => readReport(folder, part))
    summarise(reports)
    return checkEnd(reports, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function playPart(kind: Kind, part: string, folder: string): number {
  const own = [...process.execArgv, import.meta.filename]
  const args = [...own, '--provider', kind, '--part', part, '--folder', folder]
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1
}

function readReport(folder: string, part: string): Report {
  return JSON.parse(readFileSync(join(folder, `${part}.json`), 'utf8')) as Report
}

function summarise(reports: readonly Report[]): void {
  console.log(paint('bold', `\n── summary ${'─'.repeat(60)}`))
  for (const { pid, status, tally, wallMs, workspaces } of reports) {
    const calls = Object.entries(tally.calls).map(([tool, count]) => `${tool} ×${count}`)
    console.log(`process ${pid}: ${status} after ${wallMs} ms, ${tally.toolMs} ms of it in tools`)
    console.log(`  tools      ${calls.join(', ')}; ${tally.failedCalls} failed`)
    console.log(`  bytes      ${tally.argumentBytes} in arguments, ${tally.resultBytes} in results`)
    for (const { name, providerId, state, isolation, receipt, evictions, retries } of workspaces) {
      const facts = [providerId, state, `isolation ${isolation}`, `receipt ${receipt?.outcome}`]
      facts.push(`${evictions} evictions`, `${retries} retries`)
      console.log(`  workspace  ${name}: ${facts.join(', ')}`)
    }
  }
}

/** The story is over when another process ended it and nothing is left behind. */
function checkEnd(reports: readonly Report[], folder: string): number {
  const left = readdirSync(folder).filter((name) => name.startsWith('helix-ws-'))
  const failed = reports.some((report) => report.tally.failedCalls > 0)
  const pids = new Set(reports.map((report) => report.pid))
  if (pids.size === parts.length && left.length === 0 && !failed) {
    console.log('\nok: the session was paused in one process and completed in another')
    return 0
  }
  console.error(`\nthe story went wrong: ${JSON.stringify({ left, failed, processes: pids.size })}`)
  return 1
}
