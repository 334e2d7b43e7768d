// A driver of the SDK over a container that answers as a test says.
import type { DriverSettings } from '../../../src/driver/port.ts'
import {
  createSdkDriver,
  type SdkDriverOptions,
} from '../../../src/driver/sdk-0-12/create-sdk-driver.ts'
import type {
  GetSandbox,
  SandboxNamespace,
  SandboxStub,
} from '../../../src/driver/sdk-0-12/stub.ts'

export const settings: DriverSettings = {
  sandboxId: 'sb-1',
  root: '/workspace',
  env: { A: 'all', B: 'all' },
  transport: 'rpc',
}
/** Of every command. */
export const command = { cwd: '/workspace', maxOutputBytes: 9, spillDirectory: '/spill' }
const NOTES = 'plain 0 0 0 0 plain 0 0 0 0'

/** A container that runs every command, keeps the epoch e7, and has one large file. */
export function container(more: Record<string, (...args: never[]) => unknown> = {}) {
  const asked: unknown[][] = []
  const scripts: string[] = []
  const answers: Record<string, (...args: never[]) => unknown> = {
    exec: (script: string) => {
      scripts.push(script)
      const nonce = /printf '\\n%%(\w+) /.exec(script)?.[1] ?? ''
      const answer = script.includes('fresh=')
        ? `\n%${nonce} kept e7\n`
        : `${btoa('/workspace/f')}\n%${nonce} large 5\n`
      const ended = `\n\n\n%${nonce} ended 0 0 1 e7 ${NOTES}\n`
      const stdout = script.includes('hx_most') ? ended : answer
      return { stdout, stderr: '', exitCode: 0 }
    },
    readFile: (_path: string, { encoding }: { encoding: string }) => ({
      content: encoding === 'none' ? new Blob(['hello']).stream() : btoa('hello'),
    }),
    getState: () => ({ status: 'healthy', lastChange: 0 }),
    getContainerPlacementId: () => 'p1',
    ...more,
  }
  const stub = new Proxy({} as SandboxStub, {
    get: (_, name: string) =>
      name === 'then'
        ? undefined
        : async (...args: never[]) => {
            asked.push([name, ...args])
            return answers[name]?.(...args)
          },
  })
  return { asked, scripts, stub }
}

/** A container that answers, with what was asked of it. */
export type Container = ReturnType<typeof container>

/** A driver over a connection to a container. */
export const connected = (
  { stub }: Container,
  options: Partial<SdkDriverOptions> = {},
  more: Partial<DriverSettings> = {},
) => {
  const connects: string[] = []
  const connect = (id: string): SandboxStub => {
    connects.push(id)
    return stub
  }
  const driver = createSdkDriver({ source: { connect }, ...options })({ ...settings, ...more })
  return { connects, driver }
}

/** A binding, and what is asked of it. */
export function binding(stub: SandboxStub) {
  const named: unknown[] = []
  const namespace = {
    idFromName: (name: string) => `id of ${name}`,
    get: (id: unknown) => {
      named.push(id)
      return stub
    },
  } as unknown as SandboxNamespace
  const made: unknown[][] = []
  const getSandbox = ((...given: unknown[]) => {
    made.push(given)
    return stub
  }) as unknown as GetSandbox
  return { getSandbox, made, named, namespace }
}
