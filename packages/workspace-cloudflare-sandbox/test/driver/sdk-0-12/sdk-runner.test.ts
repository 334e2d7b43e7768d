import { expect, it } from 'vitest'
import type { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import { SdkRunner } from '../../../src/driver/sdk-0-12/sdk-runner.ts'
import type { SandboxStub } from '../../../src/driver/sdk-0-12/stub.ts'

const PIECE_BYTES = 8 * 1024 * 1024

it('writes no part where an attempt at an earlier one may still write', async () => {
  const written: string[] = []
  const stub = {
    writeFile: async (path: string) => void written.push(path),
    exec: async () => ({ stdout: '', stderr: '', exitCode: 0 }),
  } as unknown as SandboxStub
  const calls = {
    make: (call: (stub: SandboxStub) => Promise<unknown>) => call(stub),
  } as unknown as SdkCalls
  const runner = new SdkRunner(calls, { root: '/workspace', streams: true })
  const call = { deadlineMs: 1000, isRepeatable: false }
  await runner.store('/workspace/staged', new Uint8Array(2 * PIECE_BYTES + 1), call)
  expect(written).toHaveLength(3)
  expect(new Set(written).size).toBe(3)
  // So that whoever removes what a failure left finds them.
  for (const path of written) expect(path.startsWith('/workspace/staged')).toBe(true)
})
