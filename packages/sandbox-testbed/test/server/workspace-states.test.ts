import { afterEach, expect, it } from 'vitest'
import { failure } from './support/client.ts'
import { ALONE, describeServer } from './support/fixture.ts'

const STATES = [
  ['missing', 'true', 'ENOENT'],
  ['a file', 'touch /workspace', 'ENOTDIR'],
  ['a dangling link', 'ln -s /nowhere /workspace', 'ENOENT'],
] as const

describeServer('a /workspace that is not a directory', (fixture) => {
  const execute = (command: string, options = {}) =>
    fixture.client.root.commands.execute(command, ALONE, options)
  const become = (command: string) => execute(`rm -rf /workspace; ${command}`, { cwd: '/' })

  afterEach(() => become('mkdir /workspace'))

  it.each(STATES)('%s: every spawn without a cwd fails', async (_, make, errno) => {
    await become(make)
    const error = await failure(execute('mkdir -p /workspace'))
    expect(error.code).toBe('COMMAND_EXECUTION_ERROR')
    expect(error.message).toContain('posix_spawn')
    expect(error.message).toContain(errno)
  })

  it.each(STATES)('%s: a stream does not start', async (_, make) => {
    await become(make)
    const { commands } = fixture.client.root
    const error = await failure(commands.executeStream('true', ALONE))
    expect(error.code).toBe('STREAM_START_ERROR')
    expect(error.message).toContain('posix_spawn')
  })

  it.each(STATES)('%s: a listing of any directory says not found', async (_, make) => {
    await become(make)
    const error = await failure(fixture.client.root.files.listFiles('/etc', ALONE))
    expect(error.code).toBe('FILE_NOT_FOUND')
  })

  it.each(STATES)('%s: reading anywhere fails as a command', async (_, make) => {
    await become(make)
    const error = await failure(fixture.client.root.files.readFile('/etc/passwd', ALONE))
    expect(error.code).toBe('COMMAND_EXECUTION_ERROR')
    expect(error.message).toContain('posix_spawn')
  })

  it('recovers by a command with another cwd', async () => {
    await become('true')
    await execute('mkdir -p /workspace', { cwd: '/' })
    expect((await execute('pwd')).stdout).toBe('/workspace\n')
  })

  it('recovers by writing a file, which needs no shell', async () => {
    await become('true')
    await fixture.client.root.files.writeFile('/workspace/.keep', '', ALONE)
    expect((await execute('ls -A')).stdout).toBe('.keep\n')
  })

  it('runs commands and reaches files through a link to a directory, and lists only with a slash', async () => {
    await become('mkdir -p /elsewhere; ln -s /elsewhere /workspace')
    const { files } = fixture.client.root
    await files.writeFile('/workspace/a', 'text', ALONE)
    expect((await execute('cat a')).stdout).toBe('text')
    expect((await files.readFile('/workspace/a', ALONE)).content).toBe('text')
    expect((await failure(files.listFiles('/workspace', ALONE))).code).toBe('NOT_DIRECTORY')
    expect((await files.listFiles('/workspace/', ALONE)).count).toBe(1)
  })

  it('leaves a session working in the removed directory', async () => {
    const session = await fixture.newSession()
    const inSession = (command: string, options = {}) =>
      fixture.client.root.commands.execute(command, session, options)
    await inSession('rm -rf /workspace')
    expect((await inSession('echo works')).stdout).toBe('works')
    const missing = await inSession('pwd', { cwd: '/workspace' })
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
    expect(missing.stderr).not.toBe('')
    expect((await inSession('mkdir -p /workspace; ls -d /workspace')).stdout).toBe('/workspace')
  })

  it('works again without sessions once the directory is back', async () => {
    await become('mkdir /workspace')
    expect((await execute('pwd')).stdout).toBe('/workspace\n')
  })
})
