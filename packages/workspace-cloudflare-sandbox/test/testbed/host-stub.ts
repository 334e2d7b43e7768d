// The SDK of the test bed, called from this process: so that the work of the provider and its driver
// is done where it can be measured, and only the SDK and the container are elsewhere.
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { SandboxStub } from '../../src/driver/sdk-0-12/stub.ts'
import type { SdkCall } from '../driver/worker/worker.ts'

const METHODS = [
  'exec',
  'readFile',
  'writeFile',
  'getState',
  'getContainerPlacementId',
  'destroy',
  'createBackup',
  'restoreBackup',
  'mountBucket',
] as const satisfies readonly (keyof SandboxStub)[]

interface Answer {
  readonly value?: unknown
  readonly error?: Record<string, unknown>
}

/** A stub of a sandbox of the test bed that runs the Worker of the driver. */
export function hostStub(testbed: SandboxTestbed, sandbox: string): SandboxStub {
  const call = async (method: string, args: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ sandbox, method, args } satisfies SdkCall)
    const response = await testbed.fetch('/sdk', { method: 'POST', body })
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    if (!isJson) return { content: response.body }
    const { value, error } = await response.json<Answer>()
    if (error === undefined) return value
    throw Object.assign(new Error('remote'), error)
  }
  const methods = METHODS.map((name) => [name, (...args: unknown[]) => call(name, args)] as const)
  return Object.fromEntries(methods) as unknown as SandboxStub
}
