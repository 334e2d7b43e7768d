import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { CleanUp } from '../src/clean-up.ts'
import {
  SandboxTestbedError,
  startSandboxTestbed,
  type SandboxTestbedOptions,
} from '../src/index.ts'
import { nodeProblem } from '../src/node-version.ts'
import { execute, reasonToSkip, WORKER } from './fixture/call.ts'

const skip = await reasonToSkip()
const SCRIPT = 'export class Sandbox {}; export default {}'

describe.skipIf(skip)('a start that fails leaves nothing', { timeout: 120_000 }, () => {
  let parent: string
  beforeAll(() => {
    parent = mkdtempSync(join(tmpdir(), 'helix-start-'))
    chmodSync(parent, 0o711)
  })
  /** What other files of this process have started before is none of these tests'. */
  let before: ReadonlySet<string>
  beforeEach(() => {
    vi.stubEnv('TMPDIR', parent)
    before = new Set(children())
  })
  const started = () => children().filter((pid) => !before.has(pid))
  afterAll(() => rm(parent, { recursive: true }))

  /** The code of the refusal, and all that it left. */
  const refusal = async (options: SandboxTestbedOptions) => {
    const socketsBefore = socketCount()
    const error: unknown = await startSandboxTestbed(options).catch((reason: unknown) => reason)
    const hasSocket = socketCount() > socketsBefore
    const left = [...readdirSync(parent), ...started(), ...(hasSocket ? ['a socket'] : [])]
    return { code: error instanceof SandboxTestbedError ? error.code : error, left }
  }

  it.each<[string, SandboxTestbedOptions['worker'], string]>([
    ['cannot be built', { script: 'import "./missing.ts"' }, 'worker-build-failed'],
    ['has no source', {}, 'worker-build-failed'],
    ['lacks its class', { script: 'export default {}' }, 'worker-build-failed'],
    ['throws at the top', { script: `${SCRIPT}; throw new Error('no')` }, 'worker-start-failed'],
    ['has no such date', { script: SCRIPT, compatibilityDate: 'x' }, 'worker-start-failed'],
  ])('because the Worker %s', async (_, worker, code) => {
    expect(await refusal({ worker })).toEqual({ code, left: [] })
  })

  it('because its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    expect(await refusal({ worker: { script: SCRIPT }, port })).toEqual({
      code: 'worker-start-failed',
      left: [],
    })
    other.close()
  })

  it('because data cannot be kept', async () => {
    const options = { worker: { script: SCRIPT }, persistTo: '/etc/passwd' }
    expect(await refusal(options)).toEqual({ code: 'worker-start-failed', left: [] })
  })

  it('because it was aborted, before or on the way', async () => {
    const worker = { script: SCRIPT }
    expect(await refusal({ worker, signal: AbortSignal.abort() })).toEqual({
      code: 'start-aborted',
      left: [],
    })
    const abort = new AbortController()
    queueMicrotask(() => abort.abort())
    expect(await refusal({ worker, signal: abort.signal })).toEqual({
      code: 'start-aborted',
      left: [],
    })
  })

  it('because the folder for temporary files is missing or too deep', async () => {
    const deep = join(parent, 'x'.repeat(100))
    mkdirSync(deep)
    for (const folder of [join(parent, 'missing'), deep]) {
      vi.stubEnv('TMPDIR', folder)
      await expect(startSandboxTestbed({ worker: { script: SCRIPT } })).rejects.toMatchObject({
        code: 'directory-unusable',
      })
      vi.stubEnv('TMPDIR', parent)
    }
    expect(readdirSync(deep)).toEqual([])
    await rm(deep, { recursive: true })
  })

  it('and one that works leaves nothing either', async () => {
    const testbed = await startSandboxTestbed({ worker: WORKER })
    expect(readdirSync(parent)).toHaveLength(1)
    expect((await execute(testbed, 'one', 'echo hi')).value?.stdout).toBe('hi\n')
    await testbed.stop()
    expect(readdirSync(parent)).toEqual([])
    expect(started()).toEqual([])
  })
})

describe('parts of a start', () => {
  it('undo everything, latest first and once, also when one step fails', async () => {
    const undone: string[] = []
    const cleanUp = new CleanUp()
    cleanUp.add(() => undone.push('first'))
    cleanUp.add(() => Promise.reject(new RangeError('no')))
    cleanUp.add(() => undone.push('last'))
    await expect(Promise.all([cleanUp.run(), cleanUp.run()])).rejects.toBeInstanceOf(RangeError)
    expect(undone).toEqual(['last', 'first'])
  })

  it('refuse a Node that is too old', () => {
    expect(nodeProblem('20.20.2')).toContain('22.18')
    expect(nodeProblem('22.17.1')).toContain('22.18')
    expect([nodeProblem('22.18.0'), nodeProblem('24.0.0')]).toEqual([undefined, undefined])
  })
})

function socketCount(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'PipeServerWrap').length
}

/** What a test bed of this process would have left running. */
function children(): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      const isChild = status.includes(`\nPPid:\t${process.pid}\n`)
      return isChild && !status.startsWith('Name:\tesbuild') && !status.includes('\nState:\tZ')
    } catch {
      return false
    }
  })
}
