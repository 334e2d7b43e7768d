import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startSandboxTestbed, type SandboxTestbed } from '../src/index.ts'
import { callSandbox, execute, reasonToSkip, WORKER } from './fixture/call.ts'

/** A small file system for the folder of temporary files; needs the rights to mount one. */
const small = mkdtempSync(join(tmpdir(), 'helix-small-'))
/** The databases of the objects stand elsewhere: whether they write in that moment is their affair. */
const databases = mkdtempSync(join(tmpdir(), 'helix-databases-'))
const skip = (await reasonToSkip()) ?? mountProblem()
if (skip !== undefined) for (const folder of [small, databases]) rmdirSync(folder)

describe.skipIf(skip)('a disk without room', () => {
  let testbed: SandboxTestbed
  beforeAll(async () => {
    chmodSync(small, 0o711)
    vi.stubEnv('TMPDIR', small)
    testbed = await startSandboxTestbed({ worker: WORKER, persistTo: databases })
  }, 120_000)
  beforeEach(() => void vi.stubEnv('TMPDIR', small))
  afterAll(async () => {
    await testbed?.stop()
    execFileSync('umount', [small])
    rmdirSync(small)
    rmSync(databases, { recursive: true })
  }, 120_000)
  const fill = (sandbox: string) =>
    execute(testbed, sandbox, 'head -c 1G /dev/zero > /workspace/big; echo "exit $?"')

  it('is told to the program that fills it, and free again afterwards', async () => {
    expect(await fill('greedy')).toMatchObject({ value: { stdout: 'exit 1\n' } })
    const content = 'x'.repeat(100_000)
    const write = { method: 'writeFile', arguments: ['/workspace/more', content] }
    const { error } = await callSandbox(testbed, { sandbox: 'greedy', ...write })
    expect(error?.code).toBe('FILESYSTEM_ERROR')
    expect(await execute(testbed, 'greedy', 'rm /workspace/big; echo fine')).toMatchObject({
      value: { stdout: 'fine\n' },
    })
    expect((await callSandbox(testbed, { sandbox: 'greedy', ...write })).error).toBeUndefined()
  }, 120_000)

  it('keeps another sandbox from starting, and leaves no half of its disk', async () => {
    await execute(testbed, 'here', 'true')
    expect(await fill('here')).toMatchObject({ value: { stdout: 'exit 1\n' } })
    const disks = join(small, readdirSync(small)[0] ?? '', 'disks')
    const before = readdirSync(disks).length
    const call = { sandbox: 'late', binding: 'IMPATIENT', method: 'exec' } as const
    const { error } = await callSandbox(testbed, { ...call, arguments: ['true'] })
    expect(error).toBeDefined()
    expect(readdirSync(disks)).toHaveLength(before)
    await execute(testbed, 'here', 'rm /workspace/big')
    expect((await execute(testbed, 'late', 'echo hi')).value?.stdout).toBe('hi\n')
  }, 120_000)

  it('refuses a second test bed with a code, and leaves nothing of it', async () => {
    await execute(testbed, 'here', 'true')
    await fill('here')
    expect(statfsSync(small).bavail).toBe(0)
    const names = readdirSync(small)
    await expect(startSandboxTestbed({ worker: WORKER })).rejects.toMatchObject({
      code: 'directory-unusable',
    })
    expect(readdirSync(small)).toEqual(names)
  }, 120_000)

  it('is as empty as before when the test bed ended', async () => {
    await testbed.stop()
    expect(readdirSync(small)).toEqual([])
  }, 120_000)
})

function mountProblem(): string | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m', 'tmpfs', small], { stdio: 'pipe' })
    return undefined
  } catch (error) {
    const reason = `no small file system can be mounted: ${String(error)}`
    process.stderr.write(`skipped: ${reason}\n`)
    return reason
  }
}
