// A Worker that exposes the driver: a request holds steps, all done by one driver of one sandbox.
import { getSandbox, type Sandbox } from '@cloudflare/sandbox'
import { type Clock, systemClock } from '@helix-agents/core'
import { createSdkDriver } from '../../../src/driver/sdk-0-12/create-sdk-driver.ts'
import type { SdkLine } from '../../../src/driver/installed-sdk.ts'
import type { SandboxStub } from '../../../src/driver/sdk-0-12/stub.ts'
import type { SandboxDriver } from '../../../src/driver/port.ts'
import { decode, encode } from './wire.ts'

export { ContainerProxy, Sandbox } from '@cloudflare/sandbox'

interface Env {
  readonly SANDBOX: DurableObjectNamespace<Sandbox>
  readonly BACKUP_BUCKET: R2Bucket
  /** Line of the SDK that is bundled, when it is not 0.12. */
  readonly SDK_LINE?: SdkLine
}

export interface Session {
  readonly sandbox: string
  readonly steps: readonly Step[]
  readonly env?: Record<string, string>
  readonly root?: string
  readonly transport?: 'rpc' | 'http'
  readonly liveness?: { readonly intervalMs: number; readonly silenceMs: number }
  /** Time limits of the driver run so much faster. */
  readonly deadlineScale?: number
  /** The driver finds out by itself which SDK is there. */
  readonly detects?: boolean
  /** All steps at the same time. */
  readonly parallel?: boolean
}

export interface Step {
  /** `exec`, `files.read`, …, or `sdk.METHOD` for the SDK itself. */
  readonly call: string
  readonly args?: readonly unknown[]
  /** Answers the SHA-256 of the bytes instead of the bytes. */
  readonly digest?: boolean
  /** Aborts the signal of the last argument after so long. */
  readonly abortAfterMs?: number
  /** Sets callbacks that note what they get, each taking so long. */
  readonly listen?: { readonly takesMs: number; readonly abortAtText?: string }
}

export interface StepResult {
  readonly value?: unknown
  readonly error?: Record<string, unknown>
  /** Calls of the SDK that it made, without those that watch. */
  readonly trips: readonly string[]
  readonly pieces?: { readonly stdout: string; readonly stderr: string; readonly atOnce: number }
  readonly tookMs: number
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (new URL(request.url).pathname === '/sdk') return callSdk(env, await request.json())
    const session = decode(await request.text()) as Session
    const trips: string[] = []
    const connect = (id: string): SandboxStub => counted(bareSandbox(env, id), trips)
    const driver = makeDriver(env, session, connect)
    const context = { driver, sdk: bareSandbox(env, session.sandbox), trips }
    const results: StepResult[] = []
    if (session.parallel === true) {
      results.push(...(await Promise.all(session.steps.map((step) => perform(step, context)))))
    } else for (const step of session.steps) results.push(await perform(step, context))
    return new Response(encode(results))
  },
}

/** One call of the SDK, for a driver in another process. */
export interface SdkCall {
  readonly sandbox: string
  readonly method: string
  readonly args: readonly unknown[]
}

/** Answers the content of a file as it is, everything else as JSON. */
async function callSdk(env: Env, { sandbox, method, args }: SdkCall): Promise<Response> {
  const sdk = bareSandbox(env, sandbox) as unknown as Record<string, SdkMethod>
  try {
    const value = await sdk[method]?.(...args)
    if (!hasContent(value)) return Response.json({ value })
    return new Response(value.content)
  } catch (error) {
    return Response.json({ error: describe(error) })
  }
}

type SdkMethod = (...args: readonly unknown[]) => Promise<unknown>

function hasContent(value: unknown): value is { readonly content: ReadableStream<Uint8Array> } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'content' in value &&
    value.content instanceof ReadableStream
  )
}

function makeDriver(
  env: Env,
  session: Session,
  connect: (id: string) => SandboxStub,
): SandboxDriver {
  const detects = session.detects === true
  const create = createSdkDriver({
    source: detects ? { namespace: env.SANDBOX } : { connect },
    ...(env.SDK_LINE !== undefined && !detects && { line: env.SDK_LINE }),
    backupBucket: env.BACKUP_BUCKET,
    clock: scaled(session.deadlineScale ?? 1),
    ...(session.liveness !== undefined && { liveness: session.liveness }),
  })
  return create({
    sandboxId: session.sandbox,
    root: session.root ?? '/workspace',
    env: session.env ?? {},
    transport: session.transport ?? 'rpc',
    backups: { local: true },
  })
}

function bareSandbox(env: Env, id: string): SandboxStub {
  return getSandbox(env.SANDBOX, id, { enableDefaultSession: false, transport: 'rpc' })
}

/** A clock on which little time is long. */
function scaled(factor: number): Clock {
  const start = Date.now()
  return {
    now: () => start + (Date.now() - start) / factor,
    sleep: (ms, signal) => systemClock.sleep(ms * factor, signal),
    setTimer: (ms, callback) => systemClock.setTimer(ms * factor, callback),
  }
}

const WATCHING = new Set(['getState'])

function counted(stub: SandboxStub, trips: string[]): SandboxStub {
  return new Proxy(stub, {
    get: (target, name) => {
      const method = Reflect.get(target, name)
      if (typeof name !== 'string' || name === 'then') return undefined
      if (!WATCHING.has(name)) trips.push(name)
      return method
    },
  })
}

interface Context {
  readonly driver: SandboxDriver
  readonly sdk: SandboxStub
  readonly trips: string[]
}

async function perform(step: Step, context: Context): Promise<StepResult> {
  const before = context.trips.length
  const startMs = Date.now()
  const pieces = { stdout: new Uint8Array(), stderr: new Uint8Array(), active: 0, atOnce: 0 }
  const outcome = await run(step, context, pieces).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: describe(error) }),
  )
  return {
    ...outcome,
    trips: context.trips.slice(before),
    tookMs: Date.now() - startMs,
    ...(step.listen !== undefined && {
      pieces: {
        stdout: new TextDecoder('latin1').decode(pieces.stdout),
        stderr: new TextDecoder('latin1').decode(pieces.stderr),
        atOnce: pieces.atOnce,
      },
    }),
  }
}

interface Pieces {
  stdout: Uint8Array
  stderr: Uint8Array
  active: number
  atOnce: number
}

async function run(step: Step, { driver, sdk }: Context, pieces: Pieces): Promise<unknown> {
  const path = step.call.split('.')
  const isRaw = path[0] === 'sdk'
  const names = isRaw ? path.slice(1) : path
  let owner: unknown = isRaw ? sdk : driver
  for (const name of names.slice(0, -1)) owner = (owner as Record<string, unknown>)[name]
  const args = [...(step.args ?? [])]
  prepare(step, args, pieces)
  // Not by `apply`, which is a property of another object like any other.
  const methods = owner as Record<string, (...args: unknown[]) => unknown>
  const value = await methods[names.at(-1) ?? '']?.(...args)
  const whole = value instanceof ReadableStream ? await new Response(value).bytes() : value
  return step.digest === true ? digestOf(whole as Uint8Array) : whole
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function prepare(step: Step, args: unknown[], pieces: Pieces): void {
  const last = args.at(-1) as Record<string, unknown>
  const controller = new AbortController()
  if (step.call === 'ensure') last['signal'] = controller.signal
  if (step.abortAfterMs !== undefined) {
    last['signal'] = controller.signal
    if (step.abortAfterMs === 0) controller.abort(new Error('stopped'))
    else setTimeout(() => controller.abort(new Error('stopped')), step.abortAfterMs)
  }
  if (step.call === 'files.writeStream') args[1] = new Response(args[1] as string).body
  const { listen } = step
  if (listen === undefined) return
  last['signal'] = controller.signal
  const note = (name: 'stdout' | 'stderr') => async (chunk: Uint8Array) => {
    pieces.active += 1
    pieces.atOnce = Math.max(pieces.atOnce, pieces.active)
    if (listen.takesMs > 0) await new Promise((resolve) => setTimeout(resolve, listen.takesMs))
    const joined = new Uint8Array(pieces[name].length + chunk.length)
    joined.set(pieces[name])
    joined.set(chunk, pieces[name].length)
    pieces[name] = joined
    pieces.active -= 1
    const text = new TextDecoder().decode(joined)
    if (listen.abortAtText !== undefined && text.includes(listen.abortAtText)) controller.abort()
  }
  last['onStdout'] = note('stdout')
  last['onStderr'] = note('stderr')
}

function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  const fields = ['name', 'message', 'code', 'admitted', 'reason', 'retryAfterMs', 'errorResponse']
  const described: Record<string, unknown> = Object.fromEntries(
    fields.map((name) => [name, Reflect.get(error, name)]),
  )
  if (error.cause !== undefined) described['cause'] = describe(error.cause)
  return described
}
