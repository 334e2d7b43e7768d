import { expect, it } from 'vitest'
import { connect, events, failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'

describeServer('commands without a session', (fixture) => {
  const execute = (command: string, options = {}) =>
    fixture.client.root.commands.execute(command, ALONE, options)

  it('returns exact text with its newlines and NUL', async () => {
    const { stdout, stderr } = await execute(String.raw`printf 'a\0b\n\n'; echo err >&2`)
    expect([stdout, stderr]).toEqual(['a\0b\n\n', 'err\n'])
  })

  it('replaces bytes that are not UTF-8', async () => {
    expect((await execute(String.raw`printf 'a\xffb'`)).stdout).toBe('a\u{FFFD}b')
  })

  it.each([
    ['exit 4', 4],
    ['kill -9 $$', 137],
    ['kill -15 $$', 143],
    ['no-such-command', 127],
    ['', 0],
    ['echo "open', 2],
    ['false', 1],
  ])('runs %j to exit code %i', async (command, exitCode) => {
    expect(await execute(command)).toMatchObject({ exitCode, success: exitCode === 0 })
  })

  it('takes an open here-document as the shell does, and does not hang', async () => {
    expect((await execute('cat <<END\ntext')).stdout).toBe('text\n')
  })

  it('keeps nothing between calls', async () => {
    await execute('cd /tmp; export A=1')
    expect((await execute('pwd; echo "[$A]"')).stdout).toBe('/workspace\n[]\n')
  })

  it('merges variables into a call and leaves out undefined ones', async () => {
    const env = { A: "it's", HOME: undefined }
    expect((await execute('echo "$A|${HOME-unset}"', { env })).stdout).toBe("it's|unset\n")
  })

  it('hides the variables of the server', async () => {
    expect((await execute('env')).stdout).not.toContain('HELIX_TESTBED_')
  })

  it('gives an empty stdin', async () => {
    expect((await execute('cat | wc -c')).stdout.trim()).toBe('0')
  })

  it('ends with 124 and a notice at the timeout, and kills the process group', async () => {
    const result = await execute('sleep 1000 & echo $!; sleep 1000', { timeoutMs: 2000 })
    expect(result).toMatchObject({ exitCode: 124, success: false })
    expect(result.stderr).toContain('timed out')
    const child = Number(result.stdout)
    expect((await execute(`kill -0 ${child}`)).exitCode).toBe(1)
  })

  it('waits for a background child that holds stdout, even past the timeout', async () => {
    const result = await execute('(sleep 2.5; echo late) & echo early', { timeoutMs: 2000 })
    expect(result).toMatchObject({ exitCode: 0, stdout: 'early\nlate\n' })
  })

  it('does not wait for a background child that let go of its output', async () => {
    const result = await execute('sleep 1000 >/dev/null 2>&1 & echo $!')
    expect(result.exitCode).toBe(0)
    await execute(`kill ${result.stdout}`)
  })

  it('runs calls side by side', async () => {
    const both = await Promise.all([
      execute('until [ -e /tmp/second ]; do sleep 0.02; done; echo first'),
      execute('touch /tmp/second'),
    ])
    expect(both[0].stdout).toBe('first\n')
  })

  it('names the shell when a command is too long for the system', async () => {
    const error = await failure(execute(`: ${'x'.repeat(200_000)}`))
    expect(error.code).toBe('COMMAND_EXECUTION_ERROR')
    expect(error.message).toContain('E2BIG')
  })

  it('returns 8 MiB of output whole', async () => {
    const { stdout } = await execute('head -c 8388608 /dev/zero | tr "\\0" x')
    expect(stdout.length).toBe(8_388_608)
  })

  it('streams start, output and completion', async () => {
    const stream = await fixture.client.root.commands.executeStream(
      'echo out; sleep 0.05; echo err >&2; exit 3',
      ALONE,
    )
    const found = await events(stream)
    expect(found.map((event) => event.type)).toEqual(['start', 'stdout', 'stderr', 'complete'])
    expect(found[1]).toMatchObject({ data: 'out\n', timestamp: expect.any(String) })
    expect(found.at(-1)).toMatchObject({ exitCode: 3 })
  })

  it('keeps characters whole that two pieces of a stream share', async () => {
    const command = String.raw`printf '\xc3'; sleep 0.05; printf '\xa9'`
    const found = await events(await fixture.client.root.commands.executeStream(command, ALONE))
    const text = found.filter((event) => event.type === 'stdout').map((event) => event.data)
    expect(text.join('')).toBe('é')
  })

  it('streams 100 MB to a reader, whole', async () => {
    const command = 'head -c 100000000 /dev/zero | tr "\\0" x'
    const stream = await fixture.client.root.commands.executeStream(command, ALONE)
    let bytes = 0
    for await (const chunk of stream) bytes += chunk.length
    expect(bytes).toBeGreaterThan(100_000_000)
  }, 120_000)

  it('lets the command run on when the connection of a slow reader is lost', async () => {
    const client = await connect(fixture.server.socketPath)
    const command = 'head -c 50000000 /dev/zero; echo done > /tmp/after-loss'
    const reader = (await client.root.commands.executeStream(command, ALONE)).getReader()
    await reader.read()
    client.socket.terminate()
    const wait = 'until [ -e /tmp/after-loss ]; do sleep 0.02; done; echo done'
    expect((await execute(wait)).stdout).toBe('done\n')
  })

  it('lets the command run on when the reader of its stream goes away', async () => {
    const command = 'echo on; sleep 0.2; echo done > /tmp/after-cancel'
    const stream = await fixture.client.root.commands.executeStream(command, ALONE)
    await events(stream, (event) => event.type === 'stdout')
    const wait = 'until [ -e /tmp/after-cancel ]; do sleep 0.02; done; cat /tmp/after-cancel'
    expect((await execute(wait, { timeoutMs: 5000 })).stdout).toBe('done\n')
  })
})
