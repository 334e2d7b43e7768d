// What a provider remembers of sandboxes, and how the root of a workspace comes back.
import { describe, expect, it } from 'vitest'
import { DriverError } from '../../src/driver/driver-error.ts'
import type { SandboxDriver } from '../../src/driver/port.ts'
import { ProviderMemory } from '../../src/lifecycle/provider-memory.ts'
import { isRootSuspect, recoverRoot, rootReplaced } from '../../src/lifecycle/root-recovery.ts'
import { SPILL_DIRECTORY } from '../../src/modules/container-path.ts'

describe('a provider remembers', () => {
  it('a loss until it is reported', () => {
    const memory = new ProviderMemory()
    memory.noteLoss('a', 1)
    memory.noteLoss('a', 2)
    memory.noteLoss('c', 3)
    expect(['b', 'a', 'a', 'c'].map((key) => memory.takeLoss(key))).toEqual([
      undefined,
      2,
      undefined,
      3,
    ])
  })

  it('which lives are over', () => {
    const memory = new ProviderMemory()
    memory.noteEnd('a')
    memory.noteEnd('c')
    expect(['a', 'a', 'b', 'c'].map((life) => memory.isEnded(life))).toEqual([
      true,
      true,
      false,
      true,
    ])
  })

  it('4096 of each, and then begins anew', () => {
    const memory = new ProviderMemory()
    for (let n = 0; n < 4096; n += 1) {
      memory.noteLoss(`${n}`, n)
      memory.noteEnd(`${n}`)
    }
    expect(memory.isEnded('0')).toBe(true)
    memory.noteEnd('next')
    memory.noteLoss('next', 7)
    expect(['0', '4095', 'next'].map((life) => memory.isEnded(life))).toEqual([false, false, true])
    expect(['0', '4095', 'next'].map((key) => memory.takeLoss(key))).toEqual([
      undefined,
      undefined,
      7,
    ])
  })
})

/** A container whose script says this. */
function saying(said: string | Error) {
  const calls: unknown[] = []
  const exec = async (...call: readonly unknown[]) => {
    calls.push(call)
    if (said instanceof Error) throw said
    return { stdout: { bytes: new TextEncoder().encode(said) } }
  }
  return { calls, driver: { exec } as unknown as SandboxDriver }
}

const errorOf = (code: 'directory-missing' | 'not-found') =>
  new DriverError(code, 'x', { admitted: 'no' })

describe('the root of a workspace', () => {
  it.each([
    ['fine\n', { isMade: false }],
    ['made\n', { isMade: true }],
    ['/workspace.12\n', { isMade: false, keptAs: '/workspace.12' }],
    ['', { isMade: false }],
    ['/workspace.x', { isMade: false }],
    ['/elsewhere/workspace.1', { isMade: false }],
    ['/workspace.1 made', { isMade: false }],
    [new Error('away'), { isMade: false }],
  ])('of a container that says %j', async (said, recovery) => {
    expect(await recoverRoot(saying(said).driver)).toEqual(recovery)
  })

  it('is looked at from elsewhere, for ten seconds at most', async () => {
    const { calls, driver } = saying('fine')
    await recoverRoot(driver)
    const script = expect.stringContaining('i <= 1000') as string
    const bash = ['bash', '--noprofile', '--norc', '-c', script]
    const spillDirectory = SPILL_DIRECTORY
    const options = { cwd: '/', timeoutMs: 10_000, maxOutputBytes: 4096, spillDirectory }
    expect(calls).toEqual([[bash, options]])
  })

  it('is suspected by errors of a missing directory only', () => {
    expect(isRootSuspect(errorOf('directory-missing'))).toBe(true)
    expect(isRootSuspect(errorOf('not-found'))).toBe(false)
    expect(isRootSuspect({ code: 'directory-missing' })).toBe(false)
  })

  it('that was replaced is said, with where the old one is', () => {
    const cause = new Error('x')
    expect(rootReplaced('/workspace.1', cause)).toMatchObject({
      code: 'working-directory-missing',
      hint: expect.stringContaining('moved to /workspace.1'),
      cause,
    })
  })
})
