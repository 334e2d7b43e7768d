// Tries every command that a README or a guide prints: `pnpm check:commands [page …]`. Each runs
// as printed, or the plan says which other check runs it, or what it would need.
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../repository.ts'
import { type Trial, trialOf } from './command-plan.ts'
import { CLOUDFLARE_GUIDE, playCloudflareGuide } from './cloudflare-guide.ts'
import { playTranscript, transcriptServers } from './play-transcript.ts'
import { printedFences, type PrintedFence } from './printed-commands.ts'
import { startServer } from './start-server.ts'

const execute = promisify(execFile)
const timeout = 300_000
const only = process.argv.slice(2)
const done = new Map<string, Promise<void>>()
const failures: string[] = []
const left = new Set<string>()

const fences = printedFences().filter(
  ({ page }) => only.length === 0 || only.some((part) => page.includes(part)),
)
for (const fence of fences) await tryFence(fence)
const guide = fences.filter(({ page }) => page === CLOUDFLARE_GUIDE)
if (guide.length > 0) {
  console.log(`$ ${CLOUDFLARE_GUIDE}`)
  await settle(CLOUDFLARE_GUIDE, () => playCloudflareGuide(guide))
}
for (const one of [...left].toSorted()) console.log(`not run here: ${one}`)
for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1
else console.log(`ok: ${done.size} commands ran as printed`)

async function tryFence(fence: PrintedFence): Promise<void> {
  const server = transcriptServers.get(fence.page)
  const isTranscript = server !== undefined && fence.commands.some(({ shown }) => shown.length > 0)
  if (isTranscript) {
    await settle(`${fence.page}:${fence.line}`, () => playTranscript(fence.commands, server))
    return
  }
  for (const { command } of fence.commands) {
    await settle(`${fence.page}:${fence.line}: ${command}`, () => tryOnce(fence.page, command))
  }
}

async function settle(where: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    failures.push(`${where}\n${error instanceof Error ? error.message : String(error)}`)
  }
}

async function tryOnce(page: string, command: string): Promise<void> {
  const trial = trialOf(page, command)
  if (trial === undefined) throw new Error('scripts/commands/command-plan.ts says nothing of it')
  if (trial.kind === 'needs') left.add(`${command} (needs ${trial.what})`)
  else if (trial.kind !== 'elsewhere') await once(command, trial)
  else if (!existsSync(join(root, trial.file))) throw new Error(`there is no ${trial.file}`)
}

async function once(command: string, trial: Trial): Promise<void> {
  const earlier = done.get(command)
  if (earlier !== undefined) return earlier
  console.log(`$ ${command}`)
  const run = trial.kind === 'serves' ? serve(command, trial.ready) : end(command)
  done.set(command, run)
  return run
}

async function end(command: string): Promise<void> {
  await execute('bash', ['-c', command], { cwd: root, timeout, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: Error & { code?: number; stderr?: string }) => {
      throw new Error(`exits with ${error.code}\n${(error.stderr ?? '').slice(-2000)}`, {
        cause: error,
      })
    },
  )
}

async function serve(command: string, ready: RegExp): Promise<void> {
  const server = await startServer(spawn, { command, ready })
  await server.stop()
}
