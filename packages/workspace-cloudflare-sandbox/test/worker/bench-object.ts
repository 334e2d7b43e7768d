import { DurableObject } from 'cloudflare:workers'
import { RecordingLogger } from '@helix-agents/core/testing'
import { type Logger, systemClock } from '@helix-agents/core'
import {
  codeConfigSchema,
  fileSystemConfigSchema,
  type OpenedWorkspace,
  type OpenOptions,
  shellConfigSchema,
  snapshotConfigSchema,
  type Workspace,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import {
  CloudflareSandboxWorkspaceProvider,
  createSdkDriver,
  type SandboxSource,
} from '@helix-agents/workspace-cloudflare-sandbox'
import { BehaviourRunner, type Transport } from './behaviour-runner.ts'
import { PacedClock } from './paced-clock.ts'
import { carryOver } from './carry-over.ts'
import { composedCalls } from './composed-calls.ts'
import { travel } from './journey.ts'
import { reproduceRemoval } from './removal-reproduction.ts'
import {
  type Answer,
  type Asked,
  type CallArguments,
  type OpenArguments,
  tellAll,
  tellError,
  toJson,
} from './protocol.ts'

export interface BenchBindings {
  readonly SANDBOX: Extract<SandboxSource, { namespace: unknown }>['namespace']
  readonly IMPATIENT: BenchBindings['SANDBOX']
  readonly BACKUP_BUCKET: R2Bucket
}

const SHARED_CONFIG = { kind: 'cloudflare-sandbox' } as const

function openOptions(logger: Logger, { config }: OpenArguments): OpenOptions {
  const isStored = config?.['backupR2Binding'] !== undefined
  return {
    workspace: 'box',
    capabilities: {
      fs: fileSystemConfigSchema.parse({ maxFileSizeMb: 512 }),
      shell: shellConfigSchema.parse({}),
      code: codeConfigSchema.parse({}),
      ...(isStored && { snapshot: snapshotConfigSchema.parse({}) }),
    },
    signal: new AbortController().signal,
    logger,
    clock: systemClock,
  }
}

/** Stands for the object of an agent: opens workspaces and keeps them over requests. */
export class BenchObject extends DurableObject<BenchBindings> {
  readonly #workspaces = new Map<string, Workspace>()
  #provider: CloudflareSandboxWorkspaceProvider | undefined
  #clock = new PacedClock(1)
  readonly #logger = new RecordingLogger()
  readonly #runner = new BehaviourRunner(
    (options) => this.makeProvider(options),
    (sandbox, transport) => this.#destroy(sandbox, transport),
  )

  makeProvider(options: OpenArguments['options'] = {}): CloudflareSandboxWorkspaceProvider {
    const { SANDBOX, IMPATIENT, BACKUP_BUCKET } = this.env
    const { isImpatient = false, pace = 1, ...others } = options
    const clock = (this.#clock = new PacedClock(pace))
    return new CloudflareSandboxWorkspaceProvider({
      driver: createSdkDriver({
        source: { namespace: isImpatient ? IMPATIENT : SANDBOX },
        backupBucket: BACKUP_BUCKET,
        clock,
      }),
      localBuckets: true,
      clock,
      ...others,
    })
  }

  /** One for all that is asked of this object, as an agent has it. */
  #providerOf({ options }: OpenArguments): CloudflareSandboxWorkspaceProvider {
    this.#provider ??= this.makeProvider(options)
    return this.#provider
  }

  async #destroy(sandboxId: string, transport: Transport): Promise<void> {
    const driver = createSdkDriver({ source: { namespace: this.env.SANDBOX } })({
      sandboxId,
      root: '/workspace',
      env: {},
      transport,
    })
    await driver.destroy()
  }

  override async fetch(request: Request): Promise<Response> {
    const asked: Asked = await request.json()
    return Response.json(await this.#answer(asked))
  }

  async #answer({ program, arguments: given }: Asked): Promise<Answer> {
    try {
      return { value: toJson(await this.#run(program, given)) ?? null }
    } catch (error) {
      return { error: tellError(error) }
    }
  }

  #run(program: Asked['program'], given: Asked['arguments']): Promise<unknown> {
    switch (program) {
      case 'behaviour':
        return this.#runner.run(String(given.id), given.transport === 'http' ? 'http' : 'rpc')
      case 'open':
        return this.#open(given as unknown as OpenArguments)
      case 'resolve':
        return this.#resolve(given as unknown as OpenArguments & { ref: WorkspaceRef })
      case 'call':
        return this.#call(given as unknown as CallArguments)
      case 'journey':
        return travel(this.makeProvider(), given.way === 'backups' ? 'backups' : 'portable')
      case 'carry-over':
        return carryOver({ namespace: this.env.SANDBOX })
      default:
        return Promise.resolve('touched')
    }
  }

  async #open(given: OpenArguments): Promise<unknown> {
    const { key, sessionId, config } = given
    const provider = this.#providerOf(given)
    const session = { sessionId, agentType: 'bench' }
    const opened = provider.open(
      { ...SHARED_CONFIG, ...config },
      session,
      openOptions(this.#logger, given),
    )
    return this.#keep(key, await opened)
  }

  async #resolve(given: OpenArguments & { ref: WorkspaceRef }): Promise<unknown> {
    const { key, sessionId, config, ref } = given
    const opened = this.#providerOf(given).resolve(ref, {
      ...openOptions(this.#logger, given),
      session: { sessionId, agentType: 'bench' },
      config: { ...SHARED_CONFIG, ...config },
    })
    return this.#keep(key, await opened)
  }

  #keep(key: string, { ws, ref, receipt }: OpenedWorkspace): unknown {
    this.#workspaces.set(key, ws)
    return { ref, receipt, id: ws.id }
  }

  async #call({ key, method, given }: CallArguments): Promise<unknown> {
    const ws = this.#workspaces.get(key)
    if (ws === undefined) throw new Error(`no workspace ${key} is open`)
    if (method.startsWith('clock.')) return this.#turnClock(method, Number(given[0]))
    if (method === 'logged') return tellAll(this.#logger.lines)
    if (method === 'changedRef') return ws.changedRef
    if (method === 'reproduceRemoval') return reproduceRemoval(ws)
    const composed = composedCalls[method]
    if (composed !== undefined) return composed(ws, given)
    return callMethod(ws, method, given)
  }

  #turnClock(method: string, by: number): void {
    if (method === 'clock.leap') this.#clock.leap(by)
    else this.#clock.setPace(by)
  }
}

async function callMethod(
  ws: Workspace,
  method: string,
  given: readonly unknown[],
): Promise<unknown> {
  const names = method.split('.')
  const name = names.pop() ?? ''
  const [module] = names
  const target: unknown = module === undefined ? ws : Reflect.get(ws, module)
  if (typeof target !== 'object' || target === null) throw new Error(`no module ${module}`)
  const run: unknown = Reflect.get(target, name)
  if (typeof run !== 'function') throw new Error(`no method ${method}`)
  const result: unknown = await Reflect.apply(run, target, argumentsOf(method, given))
  return result instanceof ReadableStream ? new Response(result).text() : result
}

/** No stream crosses to this object: its text does. */
function argumentsOf(method: string, given: readonly unknown[]): readonly unknown[] {
  if (method !== 'fs.writeStream') return given
  const [path, content, ...others] = given
  return [path, new Blob([String(content)]).stream(), ...others]
}
