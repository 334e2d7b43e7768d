import { expect, it } from 'vitest'
import { events, failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'

describeServer('files.readFile', (fixture) => {
  const shell = (command: string) => fixture.client.root.commands.execute(command, ALONE)
  const read = (path: string, options = {}) =>
    fixture.client.root.files.readFile(path, ALONE, options)

  it('returns text as it is, with what it knows about it', async () => {
    await shell("printf 'héllo\n' > text.txt")
    expect(await read('/workspace/text.txt')).toEqual({
      success: true,
      path: '/workspace/text.txt',
      content: 'héllo\n',
      timestamp: expect.any(String),
      exitCode: 0,
      encoding: 'utf-8',
      isBinary: false,
      mimeType: 'text/plain',
      size: 7,
    })
  })

  it.each([
    ['bytes that are not UTF-8', String.raw`printf '\xff\xfe' > file`, '//4=', 2],
    ['a NUL', String.raw`printf 'a\0' > file`, 'YQA=', 2],
  ])('returns %s in base64 by itself', async (_, command, content, size) => {
    await shell(command)
    expect(await read('file')).toMatchObject({ content, size, encoding: 'base64', isBinary: true })
  })

  it('returns base64 or text when told', async () => {
    await shell(String.raw`printf 'a\xff' > mixed`)
    expect(await read('mixed', { encoding: 'base64' })).toMatchObject({ content: 'Yf8=' })
    expect(await read('mixed', { encoding: 'utf-8' })).toMatchObject({ content: 'a\u{FFFD}' })
  })

  it('tells an image by its first bytes', async () => {
    await shell(String.raw`printf '\x89PNG\r\n\x1a\n\0' > picture`)
    expect(await read('picture')).toMatchObject({ isBinary: true, mimeType: 'image/png' })
  })

  it('streams raw bytes for the encoding none', async () => {
    await shell('head -c 3000000 /dev/urandom > random; sha256sum < random > sum')
    const { content, size, mimeType } = await read('random', { encoding: 'none' })
    expect([size, mimeType]).toEqual([3_000_000, 'application/octet-stream'])
    const hash = await crypto.subtle.digest('SHA-256', await new Response(content).arrayBuffer())
    expect((await read('sum')).content).toContain(Buffer.from(hash).toString('hex'))
  })

  it('follows links out of /workspace', async () => {
    await shell('echo outside > /tmp/outside; ln -sf /tmp/outside link')
    expect((await read('link')).content).toBe('outside\n')
  })

  it('reads what has no size, and does not stop at a pipe that nobody writes to', async () => {
    expect((await read('/proc/self/comm')).content).not.toBe('')
    await shell('mkfifo pipe')
    expect((await read('pipe')).content).toBe('')
  })

  it('resolves relative paths where the session is', async () => {
    const session = await fixture.newSession()
    const { commands, files } = fixture.client.root
    await commands.execute('mkdir -p /tmp/deep; cd /tmp/deep; echo here > file', session)
    expect((await files.readFile('file', session)).content).toBe('here\n')
  })

  it.each([
    ['a missing file', 'nowhere', 'FILE_NOT_FOUND'],
    ['a directory', '/workspace', 'FILE_NOT_FOUND'],
    ['an empty path', '', 'VALIDATION_FAILED'],
    ['a path with NUL', 'a\0b', 'VALIDATION_FAILED'],
    ['a path through a file', '/etc/passwd/a', 'NOT_DIRECTORY'],
    ['a name that is too long', 'x'.repeat(300), 'NAME_TOO_LONG'],
  ])('fails for %s', async (_, path, code) => {
    expect((await failure(read(path))).code).toBe(code)
  })

  it('follows a loop of links nowhere', async () => {
    await shell('ln -s loop-b loop-a; ln -s loop-a loop-b')
    expect((await failure(read('loop-a'))).code).toBe('TOO_MANY_LINKS')
  })

  it('refuses more than 32 MiB at once, counted in base64, and streams it', async () => {
    await shell('head -c 25200000 /dev/zero > zeros; tr "\\0" x < zeros > letters')
    expect((await failure(read('zeros'))).code).toBe('FILE_TOO_LARGE')
    expect((await read('letters')).size).toBe(25_200_000)
    await shell('cat letters letters > more')
    expect((await failure(read('more'))).code).toBe('FILE_TOO_LARGE')
    let bytes = 0
    for await (const chunk of (await read('more', { encoding: 'none' })).content) {
      expect(chunk.length).toBeLessThanOrEqual(64 * 1024)
      bytes += chunk.length
    }
    expect(bytes).toBe(50_400_000)
    await shell('rm zeros letters more')
  })

  it('streams text as events', async () => {
    await shell("printf 'é%.0s' $(seq 100000) > accents")
    const found = await events(await fixture.client.root.files.readFileStream('accents', ALONE))
    expect(found[0]).toEqual({
      type: 'metadata',
      mimeType: 'text/plain',
      size: 200_000,
      isBinary: false,
      encoding: 'utf-8',
    })
    const text = found.filter((event) => event.type === 'chunk').map((event) => event.data)
    expect(text.join('')).toBe('é'.repeat(100_000))
    expect(found.at(-1)).toEqual({ type: 'complete', bytesRead: 200_000 })
  })

  it('streams binary as events in base64, each decodable alone', async () => {
    await shell('head -c 200001 /dev/zero > binary')
    const found = await events(await fixture.client.root.files.readFileStream('binary', ALONE))
    expect(found[0]).toMatchObject({ isBinary: true, encoding: 'base64' })
    const chunks = found.filter((event) => event.type === 'chunk').map(({ data }) => String(data))
    expect(chunks.reduce((sum, data) => sum + atob(data).length, 0)).toBe(200_001)
  })
})
