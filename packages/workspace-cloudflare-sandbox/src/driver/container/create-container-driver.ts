import { type Clock, systemClock } from '@helix-agents/core'
import { DriverError } from '../driver-error.ts'
import type { CreateSandboxDriver, DriverSettings, SandboxDriver } from '../port.ts'
import { ScriptCode } from '../code/script-code.ts'
import { ContainerLink } from '../remote/container-link.ts'
import { ensureEpoch } from '../remote/ensure-epoch.ts'
import { createNonce as randomNonce } from '../remote/nonce.ts'
import { runCommand } from '../remote/run-command.ts'
import { ScriptFiles } from '../remote/script-files.ts'
import { ScriptProcesses } from '../remote/script-processes.ts'
import { Slots } from '../remote/slots.ts'
import { DEFAULT_SCRATCH } from '../script/settings.ts'
import { type ContainerHandle, ContainerRunner } from './container-runner.ts'

export interface ContainerDriverOptions {
  /** `ctx.container` of the object that owns the container. */
  readonly container: ContainerHandle
  /** How to start it: image or snapshot, variables, instance type. */
  readonly startOptions?: ContainerStartupOptions
  /** Directory of the container for the driver's own files, outside the workspace. */
  readonly scratch?: string
  readonly clock?: Clock
  readonly createNonce?: () => string
}

/**
 * A driver on `ctx.container`, the interface of the 1.0 line: for use inside the Durable Object
 * that owns the container. Files, commands, processes and code; no snapshots or mounts. The image
 * needs bash and the GNU tools, and the interpreters of what is to be run.
 * @experimental The platform's interface is young: this may change in any release.
 */
export function createContainerDriver(options: ContainerDriverOptions): CreateSandboxDriver {
  return (settings) => buildDriver(options, settings)
}

function buildDriver(options: ContainerDriverOptions, settings: DriverSettings): SandboxDriver {
  const { container, clock = systemClock, createNonce = randomNonce } = options
  const { env, root, sandboxId } = settings
  const start = (): void => container.start(options.startOptions)
  const runner = new ContainerRunner({ container, clock, start })
  const scratch = options.scratch ?? DEFAULT_SCRATCH
  const link = new ContainerLink({ runner, settings: { root, scratch }, clock, createNonce })
  const slots = new Slots(createNonce())
  return {
    line: '1.0',
    sandboxId,
    files: new ScriptFiles(link),
    processes: new ScriptProcesses(link, env),
    code: new ScriptCode({ link, slots, env }),
    identity: async () => ({ placement: null, running: container.running }),
    ensure: async (request) => ({ ...(await ensureEpoch(link, request)), placement: null }),
    exec: (argv, request) =>
      runCommand(link, slots, { argv, options: { ...request, env: { ...env, ...request.env } } }),
    mount: () => Promise.reject(missing('mounts')),
    destroy: () => destroy(container, link),
    disconnect: async () => {},
  }
}

async function destroy(
  container: ContainerHandle,
  link: ContainerLink,
): Promise<'destroyed' | 'was-absent'> {
  const wasRunning = container.running
  link.epoch = ''
  try {
    await container.destroy()
  } catch (cause) {
    const detail = 'the platform did not end the container'
    throw new DriverError('destroy-unconfirmed', detail, { admitted: 'unknown', cause })
  }
  if (!container.running) return wasRunning ? 'destroyed' : 'was-absent'
  const detail = 'the platform did not confirm the end of the container'
  throw new DriverError('destroy-unconfirmed', detail, { admitted: 'unknown' })
}

function missing(what: string): DriverError {
  return new DriverError('not-configured', `this driver has no ${what}`, { admitted: 'no' })
}
