// The Worker of the `sandbox` workload: bare calls of the SDK and ours, in turns.
import { getSandbox, type Sandbox } from '@cloudflare/sandbox'
import { noopLogger, systemClock } from '@helix-agents/core'
import { encodeBase64 } from '@helix-agents/core/provider'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { createSdkDriver, type SandboxDriver } from '@helix-agents/workspace-cloudflare-sandbox'

export { ContainerProxy, Sandbox } from '@cloudflare/sandbox'

interface Env {
  readonly SANDBOX: Parameters<typeof getSandbox>[0]
}

/** Figures of one task. */
export interface SandboxFigure {
  readonly microseconds: number
  /** Calls of the SDK that one operation makes. */
  readonly calls: number
}

export type SandboxFigures = Readonly<Record<string, SandboxFigure>>

interface Task {
  readonly name: string
  readonly work: () => Promise<unknown>
}

const ID = 'bench'
const EXEC = {
  cwd: '/workspace',
  maxOutputBytes: 65_536,
  timeoutMs: 60_000,
  spillDirectory: '/workspace/.helix/output',
}
const BATCH = 10
const CODE = '6 * 7'
const SHELL = ['bash', '--noprofile', '--norc', '-c', '--', 'echo hi']
const SMALL = new Uint8Array(4096).fill(120)
const LARGE = new Uint8Array(8 * 1024 * 1024).map((_, at) => at % 251)

export default {
  async fetch(_request: Request, env: Env): Promise<Response> {
    return Response.json(await measureAll(env))
  },
}

async function measureAll(env: Env): Promise<SandboxFigures> {
  const counter = { calls: 0 }
  const bare = counted(sandboxOf(env), counter)
  const makeDriver = createSdkDriver({ source: { connect: () => bare } })
  const driver = makeDriver({ sandboxId: ID, root: '/workspace', env: {}, transport: 'rpc' })
  await driver.ensure({ signal: new AbortController().signal })
  const text = new TextDecoder().decode(SMALL)
  const small: readonly Task[] = [
    { name: 'nothing', work: () => bare.exec(':', { cwd: '/' }) },
    { name: 'bare run', work: () => bare.exec('echo hi', { cwd: '/workspace' }) },
    { name: 'run', work: () => driver.exec(SHELL, EXEC) },
    { name: 'run in the isolate', work: runInIsolate() },
    { name: 'bare write 4 KiB', work: () => bare.writeFile('/workspace/bare', text) },
    { name: 'write 4 KiB', work: () => driver.files.write('/workspace/ours', SMALL) },
    {
      name: 'bare read 4 KiB',
      work: () => bare.readFile('/workspace/bare', { encoding: 'base64' }),
    },
    { name: 'read 4 KiB', work: () => driver.files.read('/workspace/ours') },
    ...conditional(bare, driver),
    { name: 'bare ls', work: () => bare.listFiles('/workspace', { includeHidden: true }) },
    { name: 'ls', work: () => driver.files.list('/workspace') },
    // The SDK has nothing that tells more of a file than whether it is there.
    { name: 'bare stat', work: () => bare.exists('/workspace/bare') },
    { name: 'stat', work: () => driver.files.stat('/workspace/ours') },
  ]
  const code: readonly Task[] = [
    { name: 'bare code', work: () => runBare(bare) },
    { name: 'code', work: () => driver.code.runOnce('javascript', CODE, EXEC) },
  ]
  const large: readonly Task[] = [
    {
      name: 'bare write 8 MiB',
      // As a stream it would hang now and then: the flow control of the SDK's RPC needs a clock that runs.
      work: () => bare.writeFile('/workspace/bare', encodeBase64(LARGE), { encoding: 'base64' }),
    },
    { name: 'write 8 MiB', work: () => driver.files.write('/workspace/ours', LARGE) },
    { name: 'bare read 8 MiB', work: () => readWhole(bare) },
    { name: 'read 8 MiB', work: () => driver.files.read('/workspace/ours') },
  ]
  const first = await measure(small, { rounds: 21, batch: BATCH }, counter)
  const second = await measure(code, { rounds: 9, batch: 1 }, counter)
  return { ...first, ...second, ...(await measure(large, { rounds: 9, batch: 1 }, counter)) }
}

/** The clock of a Worker stands still until it waits. */
function runInIsolate(): () => Promise<void> {
  const files = new InMemoryFileSystem({ versionPrefix: 'bench' })
  const shell = justBashShell().open({ files, clock: systemClock, logger: noopLogger })
  let runs = 0
  return async () => {
    await shell.run('echo hi')
    runs += 1
    if (runs % BATCH === 0) await new Promise((resolve) => setTimeout(resolve))
  }
}

function sandboxOf({ SANDBOX }: Env): Sandbox {
  return getSandbox(SANDBOX, ID, { enableDefaultSession: false, transport: 'rpc' })
}

/** A write that needs to know that nobody wrote in between; the SDK has no such one. */
function conditional(bare: Sandbox, { files }: SandboxDriver): readonly Task[] {
  const path = '/workspace/conditional'
  const text = new TextDecoder().decode(SMALL)
  let version: string | undefined
  const write = async (): Promise<void> => {
    version ??= (await files.write(path, SMALL)).version
    version = (await files.write(path, SMALL, { ifVersion: version })).version
  }
  return [
    { name: 'bare write 4 KiB if unchanged', work: () => bare.writeFile('/workspace/bare', text) },
    { name: 'write 4 KiB if unchanged', work: write },
  ]
}

/** In a context of its own, as code that must not meet what others have left. */
async function runBare(bare: Sandbox): Promise<void> {
  const context = await bare.createCodeContext({ language: 'javascript' })
  await bare.runCode(CODE, { context })
  await bare.deleteCodeContext(context.id)
}

async function readWhole(bare: Sandbox): Promise<Uint8Array> {
  const { content } = await bare.readFile('/workspace/bare', { encoding: 'none' })
  return new Response(content).bytes()
}

/** A sandbox whose calls are counted, but for those that watch. */
function counted(sandbox: Sandbox, counter: { calls: number }): Sandbox {
  return new Proxy(sandbox, {
    get: (target, name) => {
      if (name === 'then') return undefined
      if (name !== 'getState') counter.calls += 1
      return Reflect.get(target, name)
    },
  })
}

/** All tasks in turns, each a batch at a time, as the clock of a Worker is coarse. */
async function measure(
  tasks: readonly Task[],
  { rounds, batch }: { readonly rounds: number; readonly batch: number },
  counter: { calls: number },
): Promise<SandboxFigures> {
  const samples = tasks.map((task) => ({ task, times: [] as number[], calls: 0 }))
  for (let round = -1; round < rounds; round++) {
    for (const sample of samples) {
      const before = counter.calls
      const startMs = performance.now()
      for (let i = 0; i < batch; i++) await sample.task.work()
      if (round < 0) continue
      sample.times.push(((performance.now() - startMs) * 1000) / batch)
      sample.calls = (counter.calls - before) / batch
    }
  }
  return Object.fromEntries(
    samples.map(({ task, times, calls }) => [task.name, { microseconds: median(times), calls }]),
  )
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
