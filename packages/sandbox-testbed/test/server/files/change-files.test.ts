import { beforeEach, expect, it } from 'vitest'
import { failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'

describeServer('files: directories, deletion and moves', (fixture) => {
  const shell = async (command: string) =>
    (await fixture.client.root.commands.execute(command, ALONE)).stdout
  const call = (method: string, ...args: unknown[]) => fixture.client.root.files[method](...args)

  beforeEach(() => shell('rm -rf ./*; mkdir full; touch full/inside file; ln -s full link'))

  it('makes a directory', async () => {
    const reply = await call('mkdir', 'new', ALONE)
    expect(reply).toMatchObject({ success: true, path: 'new', recursive: false })
    expect(await shell('test -d new && echo yes')).toBe('yes\n')
  })

  it.each([
    ['an existing directory', 'full'],
    ['an existing file', 'file'],
    ['a missing parent', 'missing/new'],
  ])('fails to make %s with FILESYSTEM_ERROR', async (_, path) => {
    const error = await failure(call('mkdir', path, ALONE))
    expect(error.code).toBe('FILESYSTEM_ERROR')
    expect(error.details).toMatchObject({ path, exitCode: 1, stderr: expect.any(String) })
  })

  it('makes parents when asked to, and an existing directory is fine then', async () => {
    await call('mkdir', 'a/b/c', ALONE, { recursive: true })
    await call('mkdir', 'a/b/c', ALONE, { recursive: true })
    expect(await shell('test -d a/b/c && echo yes')).toBe('yes\n')
  })

  it('deletes files and links, and no directory', async () => {
    await call('deleteFile', 'file', ALONE)
    await call('deleteFile', 'link', ALONE)
    expect(await shell('ls')).toBe('full\n')
    expect((await failure(call('deleteFile', 'full', ALONE))).code).toBe('IS_DIRECTORY')
    expect((await failure(call('deleteFile', 'nowhere', ALONE))).code).toBe('FILE_NOT_FOUND')
  })

  it.each(['renameFile', 'moveFile'])('%s replaces a file', async (method) => {
    await shell('echo old > old; echo new > new')
    const reply = await call(method, 'new', 'old', ALONE)
    expect(reply).toMatchObject({ success: true, path: 'new', newPath: 'old' })
    expect(await shell('cat old; ls new 2>/dev/null')).toBe('new\n')
  })

  it.each(['renameFile', 'moveFile'])(
    '%s moves into an existing directory and names the directory',
    async (method) => {
      expect(await call(method, 'file', 'full', ALONE)).toMatchObject({ newPath: 'full' })
      expect(await shell('ls full')).toBe('file\ninside\n')
    },
  )

  it.each([
    ['a missing source', 'nowhere', 'new', 'FILE_NOT_FOUND'],
    ['a missing parent', 'file', 'missing/new', 'FILESYSTEM_ERROR'],
    ['a directory into itself', 'full', 'full/inner', 'FILESYSTEM_ERROR'],
    ['an empty target', 'file', '', 'VALIDATION_FAILED'],
  ])('fails to move %s', async (_, from, to, code) => {
    expect((await failure(call('moveFile', from, to, ALONE))).code).toBe(code)
  })

  it('moves across file systems', async () => {
    await shell('rm -f /dev/shm/moved; echo far > near')
    await call('moveFile', 'near', '/dev/shm/moved', ALONE)
    expect(await shell('cat /dev/shm/moved; ls near 2>/dev/null')).toBe('far\n')
  })

  it('tells what exists, links followed', async () => {
    await shell('ln -s nowhere dangling')
    const paths = ['file', 'full', 'link', 'dangling', 'no']
    const replies = await Promise.all(paths.map((path) => call('exists', path, ALONE)))
    expect(replies.map(({ exists }) => exists)).toEqual([true, true, true, false, false])
  })

  it('waits for the commands of its session', async () => {
    const session = await fixture.newSession()
    const running = fixture.client.root.commands.execute('sleep 0.1; touch slow', session)
    expect((await call('exists', '/workspace/slow', session)).exists).toBe(true)
    await running
  })
})
