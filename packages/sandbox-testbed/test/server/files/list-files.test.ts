import { beforeAll, expect, it } from 'vitest'
import { failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'

describeServer('files.listFiles', (fixture) => {
  const list = (path: string, options = {}) =>
    fixture.client.root.files.listFiles(path, ALONE, options)
  const names = async (path: string, options = {}) =>
    (await list(path, options)).files.map((file: { relativePath: string }) => file.relativePath)

  beforeAll(async () => {
    const make = [
      'mkdir -p tree/sub tree/.hidden',
      'echo text > tree/file; touch tree/sub/inner tree/sub/.dot tree/.hidden/x; mkfifo tree/pipe',
      'ln -s file tree/link; chmod 640 tree/file; touch -d "2020-01-02 03:04:05.123456789Z" tree/file',
      'ln -s tree link-to-tree',
    ]
    await fixture.client.root.commands.execute(make.join('\n'), ALONE)
  })

  it('describes each entry', async () => {
    const { files, count, path } = await list('/workspace/tree')
    expect([count, path]).toEqual([4, '/workspace/tree'])
    expect(files.find((file: { name: string }) => file.name === 'file')).toEqual({
      name: 'file',
      absolutePath: '/workspace/tree/file',
      relativePath: 'file',
      type: 'file',
      size: 5,
      modifiedAt: '2020-01-02T03:04:05.1234567890',
      mode: '640',
      permissions: { readable: true, writable: true, executable: false },
    })
    const types = files.map((file: { name: string; type: string }) => [file.name, file.type])
    expect(Object.fromEntries(types)).toEqual({
      file: 'file',
      link: 'symlink',
      pipe: 'other',
      sub: 'directory',
    })
  })

  it('leaves hidden names out unless asked for them', async () => {
    expect(await names('tree', { recursive: true })).toEqual([
      'file',
      'link',
      'pipe',
      'sub',
      'sub/inner',
    ])
    expect(await names('tree', { recursive: true, includeHidden: true })).toEqual(
      expect.arrayContaining(['.hidden', '.hidden/x', 'sub/.dot']),
    )
  })

  it('takes a link to a directory for none, unless a slash follows', async () => {
    expect((await failure(list('link-to-tree'))).code).toBe('NOT_DIRECTORY')
    expect((await list('link-to-tree/')).count).toBe(4)
  })

  it.each([
    ['a file', 'tree/file', 'NOT_DIRECTORY'],
    ['nothing', 'nowhere', 'FILE_NOT_FOUND'],
    ['an empty path', '', 'VALIDATION_FAILED'],
  ])('fails for %s', async (_, path, code) => {
    expect((await failure(list(path))).code).toBe(code)
  })

  it('lists the root', async () => {
    expect(await names('/')).toEqual(expect.arrayContaining(['usr', 'workspace']))
  })

  it('lists ten thousand files', async () => {
    await fixture.client.root.commands.execute('mkdir many; cd many; touch $(seq 10000)', ALONE)
    expect((await list('many')).count).toBe(10_000)
  }, 120_000)
})
