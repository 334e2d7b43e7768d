// `ctx.container` is played by processes of this machine: real bash, real pipes, a directory.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContainerDriver } from '../../../src/driver/container/create-container-driver.ts'
import type { ContainerHandle } from '../../../src/driver/container/container-runner.ts'
import type { SandboxDriver } from '../../../src/driver/port.ts'

const SIGNALS: Record<number, NodeJS.Signals> = { 9: 'SIGKILL', 15: 'SIGTERM' }

function bytes(stream: Readable | null): Promise<Uint8Array> {
  const body = Readable.toWeb(stream as Readable) as unknown as ReadableStream
  return new Response(body).bytes()
}

const text = (content: Uint8Array): string => new TextDecoder().decode(content)

class HostContainer {
  running = false
  readonly children = new Set<ChildProcess>()

  start(): void {
    this.running = true
  }

  async destroy(): Promise<void> {
    this.running = false
    for (const child of this.children) child.kill('SIGKILL')
  }

  async exec(
    [file = '', ...args]: string[],
    options: { cwd?: string; stdin?: ReadableStream } = {},
  ) {
    if (!this.running) throw new Error('the container is not running')
    const child = spawn(file, args, {
      cwd: options.cwd ?? '/',
      stdio: [options.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    })
    this.children.add(child)
    if (options.stdin && child.stdin) void options.stdin.pipeTo(Writable.toWeb(child.stdin))
    const exitCode = new Promise<number>((resolve) =>
      child.on('close', (code) => resolve(code ?? 137)),
    )
    return {
      pid: child.pid,
      exitCode,
      stdout: Readable.toWeb(child.stdout as Readable),
      kill: (signal = 15) => child.kill(SIGNALS[signal]),
      output: async () => {
        const [stdout, stderr] = await Promise.all([bytes(child.stdout), bytes(child.stderr)])
        return { stdout, stderr, exitCode: await exitCode }
      },
    }
  }
}

/** A stream has one reader: as bytes or as a stream, whichever is asked first. */
function asHandle(container: HostContainer): ContainerHandle {
  return {
    get running() {
      return container.running
    },
    start: () => container.start(),
    destroy: () => container.destroy(),
    exec: async (argv: string[], options: object) => {
      const isFetch = argv[0] === 'cat'
      const launched = await container.exec(argv, options)
      return isFetch ? { ...launched, output: undefined } : launched
    },
  } as unknown as ContainerHandle
}

describe('the driver on ctx.container', () => {
  let directory: string
  let container: HostContainer
  let driver: SandboxDriver
  const exec = (line: string, more = {}) =>
    driver.exec(['bash', '-c', line], {
      cwd: join(directory, 'ws'),
      maxOutputBytes: 10_000,
      spillDirectory: join(directory, 'ws/.helix'),
      timeoutMs: 10_000,
      ...more,
    })

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'helix-container-'))
    container = new HostContainer()
    const make = createContainerDriver({
      container: asHandle(container),
      scratch: join(directory, 'scratch'),
    })
    driver = make({
      sandboxId: 'x',
      root: join(directory, 'ws'),
      env: { GIVEN: 'g' },
      transport: 'rpc',
    })
    await driver.ensure({ signal: new AbortController().signal })
  })
  afterEach(async () => {
    await container.destroy()
    rmSync(directory, { recursive: true })
  })

  it('runs commands', async () => {
    const { stdout, stderr, exitCode } = await exec('echo "$GIVEN"; printf "\\377" >&2; exit 3')
    expect([text(stdout.bytes), [...stderr.bytes], exitCode]).toEqual(['g\n', [255], 3])
    expect(await exec('sleep 20', { timeoutMs: 200 })).toMatchObject({
      timedOut: true,
      exitCode: 124,
    })
    const long = await exec('seq 1 10000')
    expect(long.stdout).toMatchObject({ totalBytes: 48_894, headBytes: 1000 })
  }, 30_000)

  it('keeps files of any size', async () => {
    for (const size of [10, 200_000, 3_000_000]) {
      const data = new Uint8Array(size).map((_, at) => at % 251)
      const path = join(directory, 'ws/d', `${size}`)
      expect((await driver.files.write(path, data)).sizeBytes).toBe(size)
      expect(Buffer.compare(await driver.files.read(path), data)).toBe(0)
    }
    await expect(driver.files.read(join(directory, 'ws/none'))).rejects.toMatchObject({
      code: 'not-found',
    })
  }, 30_000)

  it('runs code', async () => {
    const cwd = join(directory, 'ws')
    const limits = { cwd, timeoutMs: 9000, maxOutputBytes: 1000, spillDirectory: '/nowhere' }
    const code = 'console.log(process.cwd(), process.env.GIVEN); 1 + 1'
    expect(await driver.code.runOnce('javascript', code, limits)).toMatchObject({
      exitCode: 0,
      outputs: [{ data: new TextEncoder().encode(`${cwd} g\n`) }, { type: 'result', value: '2' }],
    })
    const context = await driver.code.create('javascript', { cwd })
    await driver.code.run(context, 'var kept = 1', limits)
    expect(await driver.code.run(context, 'kept', limits)).toMatchObject({
      outputs: [{ type: 'result', value: '1' }],
    })
    await driver.code.remove(context)
    await expect(driver.code.run(context, 'kept', limits)).rejects.toMatchObject({
      code: 'context-missing',
    })
  }, 30_000)

  it('knows its container again, and says what it cannot do', async () => {
    const { signal } = new AbortController()
    const { epoch } = await driver.ensure({ signal })
    expect(await driver.ensure({ knownEpoch: epoch, signal })).toMatchObject({
      outcome: 'reattached',
    })
    expect(await driver.ensure({ knownEpoch: 'other', signal })).toMatchObject({ outcome: 'cold' })
    expect(driver.snapshots).toBeUndefined()
    await expect(driver.mount({ bucket: 'B', path: '/b' })).rejects.toMatchObject({
      code: 'not-configured',
    })
    expect(await driver.destroy()).toBe('destroyed')
    expect([await driver.destroy(), (await driver.identity()).running]).toEqual([
      'was-absent',
      false,
    ])
  })
})
