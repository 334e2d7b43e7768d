import { join } from 'node:path'
import {
  containerEngineAvailability,
  sandboxTestbedAvailability,
  type SandboxTestbed,
  startSandboxTestbed,
} from '@helix-agents/sandbox-testbed'

/** What runs containers on this machine. */
export type Engine = 'docker' | 'local'

/**
 * The image of the sandbox where a container engine has it; else processes in private roots.
 * @throws {Error} where neither works, with both reasons.
 */
export async function findEngine(): Promise<Engine> {
  const docker = await containerEngineAvailability()
  if (docker.available) return 'docker'
  const local = await sandboxTestbedAvailability()
  if (local.available) return 'local'
  throw new Error(`nothing runs containers here: ${docker.reason}; ${local.reason}`)
}

interface LocalWorker {
  readonly engine: Engine
  /** Secrets and variables. */
  readonly variables: Readonly<Record<string, string>>
  /** Default: any that is free. */
  readonly port?: number
  /** Keeps the conversations. Default: they end with the Worker. */
  readonly folder?: string
}

/** The Worker in workerd, with its containers. */
export function openWorker(options: LocalWorker): Promise<SandboxTestbed> {
  const { engine, variables, port, folder } = options
  return startSandboxTestbed({
    engine,
    ...(port !== undefined && { port }),
    ...(folder !== undefined && { persistTo: folder }),
    worker: {
      name: 'my-worker',
      entry: join(import.meta.dirname, '../src/worker.ts'),
      durableObjects: {
        SANDBOX: { className: 'Sandbox', container: true },
        AGENTS: 'AgentServer',
      },
      bindings: { ...variables },
    },
  })
}
