import { expect, it } from 'vitest'
import { failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'

describeServer('sessions', (fixture) => {
  const execute = (command: string, session: string, options = {}) =>
    fixture.client.root.commands.execute(command, session, options)

  it('creates a session with variables and a directory', async () => {
    const { utils } = fixture.client.root
    const reply = await utils.createSession({
      id: 'made',
      cwd: '/tmp',
      env: { A: 'b', C: undefined },
    })
    expect(reply).toMatchObject({ success: true, id: 'made', containerPlacementId: null })
    expect((await execute('pwd; echo $A', 'made')).stdout).toBe('/tmp\nb')
  })

  it('refuses a second session of the same id', async () => {
    const session = await fixture.newSession()
    const error = await failure(fixture.client.root.utils.createSession({ id: session }))
    expect(error.code).toBe('SESSION_ALREADY_EXISTS')
    expect(error.details).toEqual({ sessionId: session, containerPlacementId: null })
  })

  it('starts a session that a command names first', async () => {
    expect((await execute('pwd', 'never-made')).stdout).toBe('/workspace')
  })

  it('starts in the home directory when /workspace is missing, without notice', async () => {
    await execute('rm -rf /workspace', 'never-made', { cwd: '/' })
    const session = await fixture.newSession()
    expect((await execute('pwd', session)).stdout).toBe('/root')
    await execute('mkdir /workspace', ALONE, { cwd: '/' })
  })

  it('interrupts what runs in a deleted session and kills what it started', async () => {
    const session = await fixture.newSession()
    const { processes, utils } = fixture.client.root
    const { processId } = await processes.startProcess('sleep 1000', session)
    const running = failure(execute('sleep 1000', session))
    await execute('true', ALONE)
    await utils.deleteSession(session)
    expect((await running).code).toBe('SESSION_DESTROYED')
    // What is killed takes a moment to be gone.
    const statusOf = async () => (await processes.getProcess(processId)).process.status
    await expect.poll(statusOf).toBe('killed')
    expect((await utils.listSessions()).sessions).not.toContain(session)
  })

  it('answers the deletion of an unknown session with INTERNAL_ERROR', async () => {
    const error = await failure(fixture.client.root.utils.deleteSession('unknown'))
    expect(error.code).toBe('INTERNAL_ERROR')
  })
})
