import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { PrintedCommand } from './printed-commands.ts'
import { startServer } from './start-server.ts'

/** What a page with a transcript has started before. */
export interface TranscriptServer {
  readonly command: string
  readonly ready: RegExp
  /** Where it keeps its sessions: a folder of this check, so that nobody's are there before. */
  readonly folderVariable: string
}

export const transcriptServers: ReadonlyMap<string, TranscriptServer> = new Map([
  [
    'examples/healthz-server/README.md',
    {
      command: 'npx -y pnpm@12 --filter example-healthz-server start',
      ready: /8787/,
      folderVariable: 'HELIX_FOLDER',
    },
  ],
  [
    'examples/research-assistant-cloudflare-do/README.md',
    {
      command: 'npx -y pnpm@12 --filter example-research-assistant-cloudflare-do start',
      ready: /8787/,
      folderVariable: 'RESEARCH_FOLDER',
    },
  ],
])

const execute = promisify(execFile)
/** A run that a command waits for, such as one that counts to a hundred. */
const PATIENCE_MS = 90_000
const PAUSE_MS = 500
/** A stream that the reader leaves with Ctrl+C. */
const STREAM_SECONDS = 1

/** Types the commands of a transcript, and compares what they print with what the page shows. */
export async function playTranscript(
  commands: readonly PrintedCommand[],
  server: TranscriptServer,
): Promise<void> {
  console.log(`$ ${server.command}`)
  const folder = mkdtempSync(join(tmpdir(), 'helix-transcript-'))
  const environment = { [server.folderVariable]: folder }
  const running = await startServer(spawn, server, environment)
  try {
    let setup = ''
    for (const one of commands) {
      if (/^\w+=/.test(one.command)) setup += `${one.command}\n`
      else await typeCommand(setup, one)
    }
  } finally {
    await running.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A reader types a command again while what it asks for is still under way. */
async function typeCommand(setup: string, one: PrintedCommand): Promise<void> {
  console.log(`  $ ${one.command}`)
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const problem = await tryCommand(setup, one)
    if (problem === null) return
    if (Date.now() > end) throw new Error(`${one.command}\n${problem}`)
    await pause(PAUSE_MS)
  }
}

async function tryCommand(
  setup: string,
  { command, shown }: PrintedCommand,
): Promise<string | null> {
  const isStream = command.includes('curl -N')
  const flags = shown.length === 0 ? 'curl -sS --fail-with-body ' : 'curl -sS '
  const typed = command.replace(
    'curl ',
    isStream ? `curl -sS --max-time ${STREAM_SECONDS} ` : flags,
  )
  const { stdout, code } = await execute('bash', ['-c', setup + typed]).then(
    (result) => ({ stdout: result.stdout, code: 0 }),
    (error: { stdout: string; code: number }) => ({ stdout: error.stdout, code: error.code }),
  )
  const timedOut = 28
  if (code !== 0 && !(isStream && code === timedOut)) return `exits with ${code}: ${stdout}`
  const missing = shown.flatMap(fragmentsOf).find((fragment) => !stdout.includes(fragment))
  return missing === undefined ? null : `does not print ${missing}: ${stdout.slice(0, 2000)}`
}

/** A page leaves out fields, and its ids are of another run. */
function fragmentsOf(line: string): string[] {
  return line
    .split(/…|,(?=")|(?<=[{[])(?=[{"[])|(?=\})/)
    .map((fragment) => fragment.replace(/[,}]+$/, ''))
    .filter((fragment) => !/[0-9a-f]{8}-/.test(fragment) && /[a-z0-9]/i.test(fragment))
}
