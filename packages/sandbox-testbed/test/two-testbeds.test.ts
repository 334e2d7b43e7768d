import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSandboxTestbed, type SandboxTestbed } from '../src/index.ts'
import { reapDeadTestbeds } from '../src/testbed-directory.ts'
import { execute, reasonToSkip, WORKER } from './fixture/call.ts'

const skip = await reasonToSkip()

/** Two in this process and one in another, started at once, with the same sandbox id. */
describe.skipIf(skip)('test beds at once', () => {
  let testbeds: readonly SandboxTestbed[]
  let child: ChildProcessByStdio<null, Readable, null>
  beforeAll(async () => {
    const host = join(import.meta.dirname, 'fixture/host.ts')
    child = spawn(process.execPath, ['--conditions=@helix-agents/source', host, '1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const started = once(child.stdout, 'data')
    const flags = ['nodejs_compat', 'no_global_navigator']
    const other = { worker: { ...WORKER, compatibilityFlags: flags }, costs: 'recorded' } as const
    testbeds = await Promise.all([{ worker: WORKER }, other].map(startSandboxTestbed))
    await started
  }, 120_000)
  afterAll(async () => {
    child.kill('SIGKILL')
    await Promise.all(testbeds.map((testbed) => testbed.stop()))
  }, 120_000)

  const read = async (): Promise<unknown[]> => {
    const calls = testbeds.map((testbed) => execute(testbed, 'orphan', 'cat /workspace/file'))
    return (await Promise.all(calls)).map(({ value }) => value?.stdout)
  }

  it('share nothing', async () => {
    const write = testbeds.map((testbed, index) =>
      execute(testbed, 'orphan', `echo ${index} >> /workspace/file`),
    )
    await Promise.all(write)
    expect(await read()).toEqual(['0\n', '1\n'])
  }, 120_000)

  it('have settings of their own', async () => {
    const agents = testbeds.map(async (testbed) => (await testbed.fetch('/agent')).text())
    expect(await Promise.all(agents)).toEqual(['Cloudflare-Workers', 'none'])
    const costs = "tr '\\0' '\\n' < /proc/1/environ | grep HELIX_TESTBED_COSTS"
    const answers = testbeds.map((testbed) => execute(testbed, 'orphan', costs))
    const texts = (await Promise.all(answers)).map(({ value }) => value?.stdout)
    expect(texts).toEqual(['HELIX_TESTBED_COSTS=none\n', 'HELIX_TESTBED_COSTS=recorded\n'])
  }, 120_000)

  it('survive one whose process is killed, and the clean-up after it', async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    await reapDeadTestbeds()
    expect(await read()).toEqual(['0\n', '1\n'])
  }, 120_000)

  it('survive the end of one', async () => {
    const [one, ...others] = testbeds
    await one?.stop()
    testbeds = others
    expect(await read()).toEqual(['1\n'])
  }, 120_000)
})
