import { expect, it } from 'vitest'
import { failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'
import { RECORDED } from '../support/recorded.ts'

describeServer('files.writeFile', (fixture) => {
  const shell = async (command: string) =>
    (await fixture.client.root.commands.execute(command, ALONE)).stdout
  const write = (path: string, content: string, options = {}) =>
    fixture.client.root.files.writeFile(path, content, ALONE, options)

  it('makes the directories above and replaces what is there', async () => {
    await write('deep/er/file', 'long content')
    expect(await write('deep/er/file', 'short')).toMatchObject({
      success: true,
      path: 'deep/er/file',
    })
    expect(await shell('cat /workspace/deep/er/file')).toBe('short')
  })

  it('follows a link', async () => {
    await shell('touch /tmp/target; ln -s /tmp/target link')
    await write('link', 'through')
    expect(await shell('cat /tmp/target; test -L link && echo link')).toBe('throughlink\n')
  })

  it('decodes base64 and refuses what is none', async () => {
    await write('binary', '/wA=', { encoding: 'base64' })
    expect(await shell('od -An -tx1 binary')).toBe(' ff 00\n')
    const error = await failure(write('binary', 'no base64!', { encoding: 'base64' }))
    expect(error.code).toBe('VALIDATION_FAILED')
  })

  it('sets permissions', async () => {
    await write('script', '', { permissions: '755' })
    expect(await shell('stat -c %a script')).toBe('755\n')
  })

  it(`says FILESYSTEM_ERROR below a root that was replaced (${RECORDED})`, async () => {
    await fixture.client.root.commands.execute('mv /workspace /kept; touch /workspace', ALONE, {
      cwd: '/',
    })
    const { code, details } = await failure(write('/workspace/a', 'x'))
    expect([code, details?.['stderr']]).toEqual([
      'FILESYSTEM_ERROR',
      expect.stringContaining('ENOTDIR'),
    ])
    const restore = 'rm /workspace; mv /kept /workspace'
    await fixture.client.root.commands.execute(restore, ALONE, { cwd: '/' })
  })

  it.each([
    ['a directory', '/tmp', 'IS_DIRECTORY'],
    ['a path through a file', '/etc/passwd/a', 'FILESYSTEM_ERROR'],
    ['an empty path', '', 'VALIDATION_FAILED'],
    ['a read-only place', '/usr/share/new', 'READ_ONLY'],
  ])('fails for %s', async (_, path, code) => {
    expect((await failure(write(path, 'x'))).code).toBe(code)
  })

  it('does not stop at a pipe that nobody reads', async () => {
    await shell('mkfifo pipe')
    expect((await failure(write('pipe', 'x'))).code).toBe('FILESYSTEM_ERROR')
  })

  it('writes a stream of any size', async () => {
    const piece = new Uint8Array(1 << 20).fill(7)
    let left = 40
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (left === 0) return controller.close()
        left -= 1
        controller.enqueue(piece)
      },
    })
    const reply = await fixture.client.root.files.writeFileStream('streamed', stream, ALONE)
    expect(reply).toMatchObject({ success: true, path: 'streamed', bytesWritten: 40 << 20 })
    expect(await shell('stat -c %s streamed; rm streamed')).toBe(`${40 << 20}\n`)
  })

  it('writes without waiting for the commands of the session', async () => {
    const session = await fixture.newSession()
    const hanging = failure(fixture.client.root.commands.execute("echo 'open", session))
    await fixture.client.root.files.writeFile('/workspace/beside', 'x', session)
    expect(await shell('cat beside')).toBe('x')
    await fixture.client.root.utils.deleteSession(session)
    await hanging
  })
})
