import { expect, it } from 'vitest'
import { events, failure } from '../support/client.ts'
import { ALONE, describeServer, stillPending } from '../support/fixture.ts'
import { RECORDED } from '../support/recorded.ts'

describeServer('processes', (fixture) => {
  const processes = () => fixture.client.root.processes
  const start = (command: string, session: string, options = {}) =>
    processes().startProcess(command, session, options)
  const elsewhere = () => fixture.client.root.commands.execute('sleep 0.1', ALONE)

  it('starts at once, tells about it and keeps its output', async () => {
    const session = await fixture.newSession()
    const started = await start('echo out; echo err >&2', session, { processId: 'mine' })
    expect(started).toEqual({
      success: true,
      processId: 'mine',
      pid: expect.any(Number),
      command: 'echo out; echo err >&2',
      timestamp: expect.any(String),
    })
    await events(await processes().streamProcessLogs('mine'))
    expect((await processes().getProcess('mine')).process).toEqual({
      id: 'mine',
      pid: started.pid,
      command: 'echo out; echo err >&2',
      status: 'completed',
      startTime: expect.any(String),
      endTime: expect.any(String),
      exitCode: 0,
    })
    expect(await processes().getProcessLogs('mine')).toMatchObject({
      processId: 'mine',
      stdout: 'out\n',
      stderr: 'err\n',
    })
  })

  it('streams logs from the beginning to the exit, while it runs', async () => {
    const session = await fixture.newSession()
    const { processId } = await start('echo one; sleep 0.1; echo two; false', session)
    const found = await events(await processes().streamProcessLogs(processId))
    expect(found.map(({ type, data, exitCode }) => [type, data, exitCode])).toEqual([
      ['stdout', 'one\n', undefined],
      ['stdout', 'two\n', undefined],
      ['exit', '', 1],
    ])
    expect((await processes().getProcess(processId)).process.status).toBe('failed')
  })

  it('takes variables and a directory', async () => {
    const session = await fixture.newSession()
    const { processId } = await start('echo "$A"; pwd', session, {
      env: { A: "it's" },
      cwd: '/tmp',
    })
    await events(await processes().streamProcessLogs(processId))
    expect((await processes().getProcessLogs(processId)).stdout).toBe("it's\n/tmp\n")
  })

  it('leaves the session free for the next command', async () => {
    const session = await fixture.newSession()
    await start('sleep 1000', session)
    expect((await fixture.client.root.commands.execute('echo free', session)).stdout).toBe('free')
  })

  it('kills the whole tree; the log stream ends without an exit code', async () => {
    const session = await fixture.newSession()
    const { processId } = await start('sleep 1000 & echo $!; wait; true', session)
    const [first] = await events(await processes().streamProcessLogs(processId), () => true)
    await processes().killProcess(processId)
    const found = await events(await processes().streamProcessLogs(processId))
    expect(found.at(-1)?.type).toBe('exit')
    expect(found.at(-1)).not.toHaveProperty('exitCode')
    expect((await processes().getProcess(processId)).process.status).toBe('killed')
    // Killed is not yet collected: that is up to the first process of the container.
    const probe = () => fixture.client.root.commands.execute(`kill -0 ${first?.data}`, ALONE)
    await expect.poll(async () => (await probe()).exitCode).toBe(1)
  })

  it(`asks by SIGTERM and kills 5 s later (${RECORDED})`, async () => {
    const session = await fixture.newSession()
    const deaf = `trap '' TERM; echo $BASHPID; while :; do sleep 0.1; done`
    const { processId } = await start(deaf, session)
    const [first] = await events(await processes().streamProcessLogs(processId), () => true)
    const asked = performance.now()
    await processes().killProcess(processId)
    const isThere = async () => {
      const probe = `grep -q '^State:\t[^Z]' /proc/${String(first?.data).trim()}/status`
      return (await fixture.client.root.commands.execute(probe, ALONE)).exitCode === 0
    }
    expect(await isThere()).toBe(true)
    await expect.poll(isThere, { timeout: 60_000, interval: 100 }).toBe(false)
    expect(performance.now() - asked).toBeGreaterThan(4500)
  }, 120_000)

  it('says PROCESS_NOT_FOUND for an unknown id', async () => {
    for (const method of ['getProcess', 'killProcess', 'getProcessLogs', 'streamProcessLogs']) {
      const error = await failure(processes()[method]('unknown'))
      expect([error.code, error.details]).toEqual(['PROCESS_NOT_FOUND', { processId: 'unknown' }])
    }
  })

  it('hangs for ever on a process that ended by exit: status, logs and log stream', async () => {
    const session = await fixture.newSession()
    const { processId } = await start('echo out; exit 5', session)
    await elsewhere()
    expect(await stillPending(processes().getProcess(processId), elsewhere)).toBe(true)
    expect(await stillPending(processes().getProcessLogs(processId), elsewhere)).toBe(true)
    const logs = events(await processes().streamProcessLogs(processId))
    expect(await stillPending(logs, elsewhere)).toBe(true)
  })

  it('lists processes of all sessions and kills them all', async () => {
    const [session, other] = [await fixture.newSession(), await fixture.newSession()]
    await start('sleep 1000', session, { processId: 'here' })
    await start('sleep 1000', other, { processId: 'there' })
    expect((await processes().killAllProcesses()).cleanedCount).toBeGreaterThanOrEqual(2)
    const listed = (await processes().listProcesses()).processes
    const statuses = listed.map(({ id, status }: { id: string; status: string }) => [id, status])
    expect(statuses).toEqual(
      expect.arrayContaining([
        ['here', 'killed'],
        ['there', 'killed'],
      ]),
    )
  })

  it('kills at its time limit', async () => {
    const session = await fixture.newSession()
    const { processId } = await start('sleep 1000', session, { timeoutMs: 100 })
    await events(await processes().streamProcessLogs(processId))
    expect((await processes().getProcess(processId)).process.status).toBe('killed')
  })
})
