import { expect, it } from 'vitest'
import { events, failure } from '../support/client.ts'
import { ALONE, describeServer, stillPending } from '../support/fixture.ts'

describeServer('commands in a session', (fixture) => {
  const execute = (command: string, session: string, options = {}) =>
    fixture.client.root.commands.execute(command, session, options)

  it('returns the fields of the protocol', async () => {
    const session = await fixture.newSession()
    expect(await execute('echo out; echo err >&2; false', session)).toEqual({
      success: false,
      exitCode: 1,
      stdout: 'out',
      stderr: 'err',
      command: 'echo out; echo err >&2; false',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    })
  })

  it('keeps directory, variables and functions between commands', async () => {
    const session = await fixture.newSession()
    await execute('cd /tmp; A=1; greet() { echo "hello $1"; }', session)
    expect((await execute('pwd; echo $A; greet you', session)).stdout).toBe('/tmp\n1\nhello you')
  })

  it('removes the last newline only and drops NUL', async () => {
    const session = await fixture.newSession()
    expect((await execute(String.raw`printf 'a\0b\n\n'`, session)).stdout).toBe('ab\n')
  })

  it('replaces bytes that are not UTF-8', async () => {
    const session = await fixture.newSession()
    expect((await execute(String.raw`printf 'a\xffb'`, session)).stdout).toBe('a\u{FFFD}b')
  })

  it('gives commands an empty stdin', async () => {
    const session = await fixture.newSession()
    expect((await execute('cat; read x; echo $?', session)).stdout).toBe('1')
  })

  it('takes an empty command for success and an unknown one for exit 127', async () => {
    const session = await fixture.newSession()
    expect((await execute('', session)).exitCode).toBe(0)
    expect((await execute('no-such-command', session)).exitCode).toBe(127)
  })

  it('sets variables of a call for that call only', async () => {
    const session = await fixture.newSession()
    await execute('export KEPT=before', session)
    const env = { KEPT: "it's", FRESH: 'x y' }
    expect((await execute('echo "$KEPT|$FRESH"', session, { env })).stdout).toBe("it's|x y")
    expect((await execute('echo "$KEPT|${FRESH-unset}"', session)).stdout).toBe('before|unset')
  })

  it('returns to its directory after a call with another one', async () => {
    const session = await fixture.newSession()
    expect((await execute('pwd', session, { cwd: '/tmp' })).stdout).toBe('/tmp')
    expect((await execute('pwd', session)).stdout).toBe('/workspace')
  })

  it('loses the shell at exit, and starts another one without a word', async () => {
    const session = await fixture.newSession()
    await execute('A=1', session)
    const error = await failure(execute('exit 4', session))
    expect(error.code).toBe('SESSION_TERMINATED')
    expect(error.details).toEqual({ sessionId: session, exitCode: 4 })
    expect((await execute('echo "[$A]"', session)).stdout).toBe('[]')
  })

  it('loses the shell at a failing command under set -e', async () => {
    const session = await fixture.newSession()
    const error = await failure(execute('set -e; false; echo unreached', session))
    expect(error.code).toBe('SESSION_TERMINATED')
    expect(error.details).toMatchObject({ exitCode: 1 })
  })

  it('loses the shell at a syntax error that cannot be completed', async () => {
    const session = await fixture.newSession()
    expect((await failure(execute('echo (', session))).code).toBe('SESSION_TERMINATED')
  })

  it.each([
    ['an open single quote', "echo 'open"],
    ['an open double quote', 'echo "open'],
    ['an open here-document', 'cat <<END\ntext'],
    ['a line that goes on', 'echo open \\'],
  ])('hangs for ever at %s, with every later call of the session', async (_, command) => {
    const session = await fixture.newSession()
    const elsewhere = () => execute('sleep 0.05', ALONE)
    expect(await stillPending(execute(command, session), elsewhere)).toBe(true)
    expect(await stillPending(execute('echo later', session), elsewhere)).toBe(true)
    const { files, processes } = fixture.client.root
    expect(await stillPending(processes.startProcess('true', session), elsewhere)).toBe(true)
    expect(await stillPending(files.readFile('/etc/passwd', session), elsewhere)).toBe(true)
    expect((await execute('echo fine', ALONE)).stdout).toBe('fine\n')
  })

  it('throws at a timeout while the command runs on and holds up the next one', async () => {
    const session = await fixture.newSession()
    const command = 'until [ -e /tmp/was-late ]; do sleep 0.02; done; echo done > late'
    const error = await failure(execute(command, session, { timeoutMs: 50 }))
    expect(error.code).toBe('COMMAND_EXECUTION_ERROR')
    expect(error.message).toContain('timeout after')
    await execute('touch /tmp/was-late', ALONE)
    expect((await execute('cat late', session)).stdout).toBe('done')
  })

  it('takes the time limit of the session for its commands', async () => {
    const { utils } = fixture.client.root
    await utils.createSession({ id: 'limited', commandTimeoutMs: 50 })
    expect((await failure(execute('sleep 1000', 'limited'))).code).toBe('COMMAND_EXECUTION_ERROR')
  })

  it('runs commands of one session one after the other, and sessions side by side', async () => {
    const [session, other] = [await fixture.newSession(), await fixture.newSession()]
    const order: string[] = []
    const note = (name: string) => () => order.push(name)
    const slow = 'until [ -e /tmp/other-ended ]; do sleep 0.02; done'
    await Promise.all([
      execute(slow, session).then(note('slow')),
      execute('true', session).then(note('waiting')),
      execute('true', other)
        .then(note('other'))
        .then(() => execute('touch /tmp/other-ended', ALONE)),
    ])
    expect(order).toEqual(['other', 'slow', 'waiting'])
  })

  it('does not wait for a background child that holds the output', async () => {
    const session = await fixture.newSession()
    expect((await execute('sleep 100 & echo started', session)).stdout).toBe('started')
  })

  it('streams events of a command that runs beside the shell', async () => {
    const session = await fixture.newSession()
    const { commands } = fixture.client.root
    const stream = await commands.executeStream('echo out; echo err >&2; A=1; false', session)
    const found = await events(stream)
    expect(found.map((event) => event.type)).toEqual(['start', 'stdout', 'stderr', 'complete'])
    expect(found[0]).toMatchObject({ sessionId: session, pid: expect.any(Number) })
    expect(found.at(-1)).toMatchObject({ exitCode: 1 })
    expect((await execute('echo "[$A]"', session)).stdout).toBe('[]')
  })

  it('never completes a stream of a command that ends by exit', async () => {
    const session = await fixture.newSession()
    const stream = await fixture.client.root.commands.executeStream('echo out; exit 5', session)
    const whole = events(stream)
    expect(await stillPending(whole, () => execute('sleep 0.1', ALONE))).toBe(true)
  })

  it('reports a missing cwd as exit 1 with a text, not as an error', async () => {
    const session = await fixture.newSession()
    const result = await execute('echo unreached', session, { cwd: '/nowhere' })
    expect(result).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('/nowhere'),
    })
  })

  it('is lost with the folder of its output, as in the real server', async () => {
    const session = await fixture.newSession()
    await execute('rm -rf /tmp/*', ALONE)
    expect((await failure(execute('echo on', session))).code).toBe('COMMAND_EXECUTION_ERROR')
    const start = fixture.client.root.processes.startProcess('true', session)
    expect((await failure(start)).code).toBe('STREAM_START_ERROR')
    // A new one works.
    expect((await execute('echo on', await fixture.newSession())).stdout).toBe('on')
  })

  it('never answers the command that removed the folder of its output', async () => {
    const session = await fixture.newSession()
    const call = execute('rm -rf /tmp/*', session)
    const gone = 'until [ -z "$(ls /tmp)" ]; do sleep 0.02; done'
    expect(await stillPending(call, () => execute(gone, ALONE))).toBe(true)
  })
})
