// What a sandbox of the 0.13 line is asked for in the place of each call of 0.12.
import { describe, expect, it } from 'vitest'
import { DriverError } from '../../../src/driver/driver-error.ts'
import { adaptStub } from '../../../src/driver/sdk-0-13/adapt-stub.ts'
import type { NextProcessOutput, NextSandboxStub } from '../../../src/driver/sdk-0-13/stub.ts'

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values)
const ENDED: NextProcessOutput = {
  stdout: bytes(),
  stderr: bytes(),
  exitCode: 0,
  timedOut: false,
  truncated: false,
}

/** A stub that answers each call with its name, and a command with this end. */
function adapted(output: Partial<NextProcessOutput> = {}) {
  const asked: unknown[][] = []
  const next = new Proxy({} as NextSandboxStub, {
    get:
      (_, name: string) =>
      async (...args: unknown[]) => {
        asked.push([name, ...args])
        return name === 'exec' ? { output: async () => ({ ...ENDED, ...output }) } : name
      },
  })
  return { asked, stub: adaptStub(next) }
}

describe('a script', () => {
  const options = { cwd: '/', timeout: 7 }
  it('runs in a shell of its own, whose output is text', async () => {
    const stdout = bytes(0xef, 0xbb, 0xbf, 0x61, 0xff)
    const { asked, stub } = adapted({ stdout, stderr: bytes(0x62), exitCode: 3 })
    const ended = { stdout: '\uFEFFa\uFFFD', stderr: 'b', exitCode: 3 }
    expect(await stub.exec('do it', options)).toEqual(ended)
    expect(asked).toEqual([['exec', ['/bin/bash', '-c', 'do it'], options]])
  })
  it('whose time ran out has the exit code for that', async () => {
    const { stub } = adapted({ exitCode: 137, timedOut: true })
    expect((await stub.exec('do it', options)).exitCode).toBe(124)
  })
  it('whose output was forgotten in part was interrupted', async () => {
    const error: unknown = await adapted({ truncated: true })
      .stub.exec('do it', options)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(DriverError)
    expect(error).toMatchObject({
      code: 'interrupted',
      admitted: 'unknown',
      message: 'the container kept only a part of what a script has answered',
    })
  })
})

it('has no placement', async () => {
  const { asked, stub } = adapted()
  expect(await stub.getContainerPlacementId()).toBeNull()
  expect(asked).toEqual([])
})

it('everything else is the same call', async () => {
  const { asked, stub } = adapted()
  const backup = { id: 'b1', dir: '/workspace' }
  const taken = { dir: '/workspace', ttl: 5 }
  const mount = { localBucket: true } as const
  const answers: unknown[] = [
    await stub.writeFile('/f', 'text', { encoding: 'base64' }),
    await stub.readFile('/f', { encoding: 'none' }),
    await stub.readFile('/f', { encoding: 'base64' }),
    await stub.getState(),
    await stub.destroy(),
    await stub.createBackup(taken),
    await stub.restoreBackup(backup),
    await stub.mountBucket('B', '/mnt', mount),
  ]
  const same = [
    ['writeFile', '/f', 'text', { encoding: 'base64' }],
    ['readFile', '/f', { encoding: 'none' }],
    ['readFile', '/f', { encoding: 'base64' }],
    ['getState'],
    ['destroy'],
    ['createBackup', taken],
    ['restoreBackup', backup],
    ['mountBucket', 'B', '/mnt', mount],
  ]
  expect(asked).toEqual(same)
  expect(answers).toEqual(same.map(([name]) => name))
})
