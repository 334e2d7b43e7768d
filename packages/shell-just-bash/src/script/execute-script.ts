import type { Bash, BashOptions, InMemoryFs, MountableFs } from 'just-bash'
import { encodeContent } from './byte-strings.ts'
import { explainAbsent } from './commands/absent-programs.ts'
import { FIELD_LIMIT_FILE, MAX_FIELDS, TURN_FILE } from './commands/bounds/limit-files.ts'
import { addTurns } from './commands/bounds/turns.ts'
import { scriptCommands } from './commands/script-commands.ts'
import { FileMetadata } from './file-metadata.ts'
import { type Programs, programsFor } from './program-files.ts'
import {
  type OutputName,
  type Script,
  type ScriptEnd,
  type ScriptHost,
  type ScriptLimits,
  SHELL_PID,
  SHELL_ROOT,
  TEMPORARY_DIRECTORY,
} from './script.ts'
import { streamOutputs } from './stream-outputs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

/** What is used of the npm package. */
export interface JustBash {
  readonly Bash: typeof Bash
  readonly InMemoryFs: typeof InMemoryFs
  readonly MountableFs: typeof MountableFs
}

const SINKS = { stdout: '/dev/helix-stdout', stderr: '/dev/helix-stderr' }
const OUTPUTS: ReadonlyMap<string, OutputName> = new Map([
  [SINKS.stdout, 'stdout'],
  [SINKS.stderr, 'stderr'],
])

/** A read of an endless device gives so much. */
const DEVICE_BYTES = 1024 * 1024
/** Small steps of programs such as jq, for each round that a loop may have. */
const WORK_OF_A_ROUND = 250
/** What the shell holds outside of the workspace, such as `/etc`, for the time of one command. */
const MAX_BASE_BYTES = 16 * 1024 * 1024

/** What one run of a script has. */
export interface RunParts {
  readonly host: ScriptHost
  readonly signal: AbortSignal
  /** Timers of others run in this thread: the script lets them. */
  readonly isShared: boolean
}

/** Runs one script to its end, in this thread. */
export async function executeScript(
  justBash: JustBash,
  script: Script,
  run: RunParts,
): Promise<ScriptEnd> {
  const { host, signal } = run
  const killed = new AbortController()
  const metadata = new FileMetadata(script.metadata)
  const fs = createRoot(justBash, { host, metadata, programs: programsOf(justBash, script) })
  const bash = new justBash.Bash({
    fs,
    cwd: script.cwd,
    env: { ...script.env },
    // The thread, or the isolate, is closed once for all its scripts: see `lock-down.ts`.
    defenseInDepth: false,
    executionLimits: limitsOf(script.limits),
    processInfo: { pid: SHELL_PID, ppid: 0, uid: 1000, gid: 1000 },
    customCommands: scriptCommands(script, run, (code) => killed.abort(code)),
    ...networkOf(script),
  })
  bash.registerTransformPlugin(streamOutputs(SINKS, script.source))
  if (run.isShared) bash.registerTransformPlugin(addTurns)
  const options = { rawScript: true, signal: AbortSignal.any([signal, killed.signal]) }
  const result = await bash.exec(script.source, options).catch(failedBy)
  if (!killed.signal.aborted) {
    await writeRest(host, 'stdout', result.stdout)
    await writeRest(host, 'stderr', result.stderr)
  }
  const exitCode = killed.signal.aborted ? Number(killed.signal.reason) : result.exitCode
  return { exitCode, metadata: metadata.entries() }
}

/** What just-bash does not make a result: a full workspace, a stack that is full. */
function failedBy(error: unknown): { stdout: string; stderr: string; exitCode: number } {
  const message = error instanceof Error ? error.message : String(error)
  return { stdout: '', stderr: `bash: ${message}\n`, exitCode: 1 }
}

/** What passes no sink: errors of the parser and of expansions, and writes to `/dev/stdout`. */
async function writeRest(host: ScriptHost, output: OutputName, text: string): Promise<void> {
  if (text === '') return
  const shown = output === 'stderr' ? explainAbsent(text) : text
  await host.write(output, encodeContent(shown, 'utf8'))
}

interface RootParts {
  readonly host: ScriptHost
  readonly metadata: FileMetadata
  readonly programs: Programs
}

function programsOf({ InMemoryFs }: JustBash, { hostCommands, allowedUrls }: Script): Programs {
  const hasNetwork = allowedUrls.length > 0
  return programsFor(InMemoryFs, JSON.stringify([hasNetwork, hostCommands.toSorted()]))
}

function createRoot(
  { InMemoryFs, MountableFs }: JustBash,
  { host, metadata, programs }: RootParts,
): MountableFs {
  const base = createBase(InMemoryFs, host)
  /** just-bash makes `/bin`, `/dev` and `/proc` where it finds these methods. */
  class Root extends MountableFs {
    mkdirSync(...call: Parameters<InMemoryFs['mkdirSync']>): void {
      base.mkdirSync(...call)
    }

    writeFileSync(...call: Parameters<InMemoryFs['writeFileSync']>): void {
      const [path, content] = call
      if (typeof content === 'function' || !programs.add(path, content)) base.writeFileSync(...call)
    }
  }
  const mounted = (mount: string, root: string) => ({
    mountPoint: mount,
    filesystem: new WorkspaceFiles(host.files, metadata, { mount, root }),
  })
  return new Root({
    base,
    mounts: [mounted(SHELL_ROOT, '/'), mounted('/tmp', TEMPORARY_DIRECTORY), ...programs.mounts],
  })
}

/** What no workspace has: the outputs of the script, devices, and the files by which programs speak to us. */
function createBase(InMemoryFs: JustBash['InMemoryFs'], host: ScriptHost): InMemoryFs {
  class Base extends InMemoryFs {
    override async appendFile(...call: Parameters<InMemoryFs['appendFile']>): Promise<void> {
      const [path, content, options] = call
      const output = OUTPUTS.get(path)
      if (output === undefined) return super.appendFile(...call)
      const encoding = typeof options === 'string' ? options : (options?.encoding ?? 'utf8')
      const shown = output === 'stderr' ? explained(content) : content
      const bytes = encodeContent(shown, encoding)
      if (bytes.length > 0) await host.write(output, bytes)
    }

    override async writeFile(...call: Parameters<InMemoryFs['writeFile']>): Promise<void> {
      const [path, content] = call
      if (path === TURN_FILE) return host.turn(Math.max(1, Number(content) || 1))
      if (path === FIELD_LIMIT_FILE) {
        throw new Error(`ended: a line of more than ${MAX_FIELDS} fields`)
      }
      return super.writeFile(...call)
    }

    override async readFileBuffer(path: string): Promise<Uint8Array> {
      if (path === '/dev/zero') return new Uint8Array(DEVICE_BYTES)
      if (path === '/dev/urandom' || path === '/dev/random') return randomBytes()
      return super.readFileBuffer(path)
    }
  }
  return new Base(
    { '/dev/urandom': '', '/dev/random': '', [TURN_FILE]: '' },
    { maxTotalBytes: MAX_BASE_BYTES },
  )
}

/** All of a message comes at once. */
function explained(content: string | Uint8Array): string | Uint8Array {
  return typeof content === 'string' ? explainAbsent(content) : content
}

function randomBytes(): Uint8Array {
  const bytes = new Uint8Array(DEVICE_BYTES)
  for (let at = 0; at < bytes.length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  }
  return bytes
}

/** The time is bounded by the caller, who has the clock. */
function limitsOf(limits: ScriptLimits): NonNullable<BashOptions['executionLimits']> {
  const { maxLoopIterations, maxStringBytes, maxMemoryBytes, maxVisitedFiles } = limits
  return {
    maxCommandCount: limits.maxCommands,
    maxCallDepth: limits.maxCallDepth,
    maxLoopIterations,
    maxAwkIterations: maxLoopIterations,
    maxSedIterations: maxLoopIterations,
    maxJqIterations: maxLoopIterations,
    maxWorkUnits: maxLoopIterations * WORK_OF_A_ROUND,
    maxStringLength: maxStringBytes,
    maxHeredocSize: maxStringBytes,
    maxLiveBytes: maxMemoryBytes,
    maxOutputSize: maxMemoryBytes,
    maxTraversalEntries: maxVisitedFiles,
    maxTraversalWork: maxVisitedFiles,
    maxGlobOperations: maxVisitedFiles,
  }
}

function networkOf({ allowedUrls }: Script): Pick<BashOptions, 'network'> {
  if (allowedUrls.length === 0) return {}
  return { network: { allowedUrlPrefixes: [...allowedUrls] } }
}
