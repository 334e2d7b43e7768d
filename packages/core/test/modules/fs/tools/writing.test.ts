import { describe, expect, it } from 'vitest'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import { ToolBench } from '../tool-bench.ts'

async function withFiles(files: Record<string, string | Uint8Array>, config = {}) {
  const bench = new ToolBench(config)
  for (const [path, data] of Object.entries(files)) await bench.fs.writeFile(path, data)
  return bench
}

async function errorOf(promise: Promise<unknown>): Promise<FileSystemError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown)
  if (FileSystemError.isInstance(error)) return error
  throw new Error('no such error', { cause: error })
}

const namesOf = (config: object) => new ToolBench(config).tools().map((tool) => tool.name)

function claimsOf(config: object): string[] {
  const bench = new ToolBench(config)
  return bench
    .tools()
    .filter((tool) => /must have been read/.test(bench.description(tool)))
    .map((tool) => tool.name)
}

const editOfLine = (line: number) => ({
  path: '/a',
  oldText: `line ${line}\n`,
  newText: 'new\n',
})

describe('which tools there are', () => {
  const nine = ['read_file', 'write_file', 'edit_file', 'ls', 'glob', 'grep', 'stat', 'mkdir', 'rm']
  const more = ['append_file', 'copy', 'move', 'multi_edit', 'apply_patch']

  it.each([false, true])('nine, five more when extended (read first: %s)', (read) => {
    expect(namesOf({ requireReadBeforeWrite: read })).toEqual(nine)
    const all = namesOf({ requireReadBeforeWrite: read, extended: true })
    expect(all).toEqual([...nine, ...more])
  })

  it('claims that reading comes first only where it is enforced', () => {
    expect(claimsOf({ extended: true })).toEqual([])
    expect(claimsOf({ extended: true, requireReadBeforeWrite: true })).toEqual([
      'write_file',
      'edit_file',
      'multi_edit',
      'apply_patch',
    ])
  })

  it('marks what only looks', () => {
    const readOnly = new ToolBench({ extended: true })
      .tools()
      .filter((tool) => tool.annotations.readOnly)
    expect(readOnly.map((tool) => tool.name)).toEqual(['read_file', 'ls', 'glob', 'grep', 'stat'])
  })
})

describe('write_file', () => {
  it('creates and replaces', async () => {
    const bench = new ToolBench()
    const first = await bench.show('write_file', { path: 'a', content: 'é' })
    expect(first).toBe('created /a: 2 bytes, version v1')
    const second = await bench.show('write_file', { path: '/a', content: '' })
    expect(second).toBe('replaced /a: 0 bytes, version v2')
  })

  it('refuses to replace what changed since it was read, and names the writer', async () => {
    const bench = await withFiles({ '/a': 'one' })
    await bench.call('read_file', { path: '/a' })
    await bench.call('write_file', { path: '/a', content: 'two' }, 'child')
    const error = await errorOf(bench.call('write_file', { path: '/a', content: 'three' }))
    expect(error.code).toBe('stale-write')
    expect(error.message).toContain('agent child')
    expect(bench.fs.text('/a')).toBe('two')
    await bench.call('read_file', { path: '/a' })
    expect(await bench.code('write_file', { path: '/a', content: 'three' })).toBe('ok')
  })

  it('tells a change from outside from one by an agent', async () => {
    const bench = await withFiles({ '/a': 'one' })
    await bench.call('read_file', { path: '/a' })
    await bench.fs.writeFile('/a', 'outside')
    const error = await errorOf(bench.call('write_file', { path: '/a', content: 'x' }))
    expect(error.message).toContain('another process')
    expect(error.message).toContain('7 bytes')
  })

  it('never trips over its own writes', async () => {
    const bench = new ToolBench({ extended: true })
    const steps: [string, object][] = [
      ['write_file', { path: '/a', content: 'x\n' }],
      ['append_file', { path: '/a', content: 'y\n' }],
      ['edit_file', { path: '/a', oldText: 'x', newText: 'z' }],
      ['move', { from: '/a', to: '/b' }],
      ['write_file', { path: '/b', content: '1' }],
      ['copy', { from: '/b', to: '/c' }],
      ['edit_file', { path: '/c', oldText: '1', newText: '2' }],
      ['copy', { from: '/c', to: '/b', opts: { overwrite: true } }],
      ['multi_edit', { path: '/b', edits: [{ oldText: '2', newText: '3' }] }],
      ['rm', { path: '/b' }],
      ['write_file', { path: '/b', content: '4' }],
      [
        'apply_patch',
        { patch: '--- a/b\n+++ b/b\n@@ -1 +1 @@\n-4\n\\ No newline at end of file\n+5\n' },
      ],
      ['write_file', { path: '/b', content: '6' }],
    ]
    for (const [name, input] of steps)
      expect([name, await bench.code(name, input)]).toEqual([name, 'ok'])
    expect(bench.fs.all()).toEqual({ '/b': '6', '/c': '2' })
  })

  it('may replace an unread file unless reading is required', async () => {
    const free = await withFiles({ '/a': 'one' })
    expect(await free.code('write_file', { path: '/a', content: 'x' })).toBe('ok')
    const strict = await withFiles({ '/a': '1\n2\n3\n' }, { requireReadBeforeWrite: true })
    expect(await strict.code('write_file', { path: '/a', content: 'x' })).toBe('stale-write')
    await strict.call('read_file', { path: '/a', limit: 2 })
    expect(await strict.code('write_file', { path: '/a', content: 'x' })).toBe('stale-write')
    await strict.call('read_file', { path: '/a', offset: 3 })
    expect(await strict.code('write_file', { path: '/a', content: 'x' })).toBe('ok')
    expect(await strict.code('write_file', { path: '/a', content: 'y' })).toBe('ok')
    expect(await strict.code('write_file', { path: '/new', content: 'y' })).toBe('ok')
  })

  it('loses nothing that is written between its look and its write', async () => {
    const bench = await withFiles({ '/a': 'one' })
    await bench.call('read_file', { path: '/a' })
    bench.fs.beforeWrite = async () => void (await bench.fs.writeFile('/a', 'outside'))
    expect(await bench.code('write_file', { path: '/a', content: 'x' })).toBe('stale-write')
    bench.fs.beforeWrite = async () => void (await bench.fs.writeFile('/new', 'outside'))
    expect(await bench.code('write_file', { path: '/new', content: 'x' })).toBe('stale-write')
    expect(bench.fs.all()).toEqual({ '/a': 'outside', '/new': 'outside' })
  })

  it('lets parallel calls of one agent pass', async () => {
    const bench = await withFiles({ '/a': 'one' })
    const write = (content: string) => bench.code('write_file', { path: '/a', content })
    expect(await Promise.all([write('2'), write('3')])).toEqual(['ok', 'ok'])
  })

  it('refuses a directory and a size over the limit', async () => {
    const bench = await withFiles({ '/d/f': '' }, { maxFileSizeMb: 0.00001 })
    expect(await bench.code('write_file', { path: '/d', content: '' })).toBe('is-directory')
    expect(await bench.code('write_file', { path: '/a', content: 'x'.repeat(99) })).toBe(
      'too-large',
    )
  })
})

describe('edit_file', () => {
  it('returns a diff, the lines and the version', async () => {
    const bench = await withFiles({ '/a': 'a\nb\nc\n' })
    expect(await bench.show('edit_file', { path: '/a', oldText: 'b', newText: '$&' })).toBe(
      'edited /a, lines 2-2, version v2\n@@ -1,3 +1,3 @@\n a\n-b\n+$&\n c',
    )
  })

  it('keeps CRLF, byte order mark and a missing line end', async () => {
    const bench = await withFiles({ '/a': '\uFEFFa\r\nb\r\nc' })
    await bench.call('edit_file', { path: '/a', oldText: 'a\nb', newText: 'x\ny\nz' })
    expect(bench.fs.text('/a')).toBe('\uFEFFx\r\ny\r\nz\r\nc')
  })

  it('refuses bytes that are not UTF-8, and takes a real replacement character', async () => {
    const bench = await withFiles({ '/bad': new Uint8Array([0x61, 0xff]), '/good': 'a\uFFFD' })
    const edit = { oldText: 'a', newText: 'b' }
    expect(await bench.code('edit_file', { path: '/bad', ...edit })).toBe('invalid-input')
    expect(await bench.code('edit_file', { path: '/good', ...edit })).toBe('ok')
    expect([...bench.fs.files.get('/bad')!.bytes]).toEqual([0x61, 0xff])
  })

  it('applies every one of many parallel edits', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `<${i}>`)
    const bench = await withFiles({ '/a': names.join('\n') })
    const codes = await Promise.all(
      names.map((name) =>
        bench.code('edit_file', { path: '/a', oldText: name, newText: name.toUpperCase() + '!' }),
      ),
    )
    expect(codes).toEqual(names.map(() => 'ok'))
    expect(bench.fs.text('/a')).toBe(names.map((name) => `${name}!`).join('\n'))
  })

  it('is applied again to what somebody else has written meanwhile', async () => {
    const bench = await withFiles({ '/a': 'a b' })
    bench.fs.beforeWrite = async () => void (await bench.fs.writeFile('/a', 'a c'))
    expect(await bench.code('edit_file', { path: '/a', oldText: 'a', newText: 'x' })).toBe('ok')
    expect(bench.fs.text('/a')).toBe('x c')
  })

  it('is refused when another agent has changed the file since it was read', async () => {
    const bench = await withFiles({ '/a': 'a b' })
    await bench.call('read_file', { path: '/a' })
    await bench.call('edit_file', { path: '/a', oldText: 'a', newText: 'x' }, 'child')
    const error = await errorOf(bench.call('edit_file', { path: '/a', oldText: 'b', newText: 'y' }))
    expect(error.code).toBe('stale-write')
    expect(error.message).toContain('agent child')
  })

  it('needs only the lines to have been read, where reading is required', async () => {
    const text = Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join('')
    const bench = await withFiles({ '/a': text }, { requireReadBeforeWrite: true })
    expect(await bench.code('edit_file', editOfLine(4000))).toBe('stale-write')
    await bench.call('read_file', { path: '/a', offset: 3990, limit: 20 })
    expect(await bench.code('edit_file', editOfLine(4000))).toBe('ok')
    expect(await bench.code('edit_file', editOfLine(3995))).toBe('ok')
    expect(await bench.code('edit_file', editOfLine(100))).toBe('stale-write')
  })

  it('fails in words', async () => {
    const bench = await withFiles({ '/a': 'x x' })
    const code = (input: object) => bench.code('edit_file', { path: '/a', newText: 'n', ...input })
    expect(await code({ oldText: 'y' })).toBe('no-match')
    expect(await code({ oldText: 'x' })).toBe('ambiguous-match')
    expect(await code({ oldText: '' })).toBe('invalid-input')
    expect(await code({ oldText: 'x', path: '/none' })).toBe('not-found')
    expect(await code({ oldText: 'x', replaceAll: true })).toBe('ok')
    expect(bench.fs.text('/a')).toBe('n n')
  })
})

describe('multi_edit', () => {
  it('applies in order, all or nothing', async () => {
    const bench = await withFiles({ '/a': 'a b' }, { extended: true })
    const edits = [
      { oldText: 'a', newText: 'b1' },
      { oldText: 'b1', newText: '$1' },
      { oldText: 'b', newText: 'c' },
    ]
    expect(await bench.code('multi_edit', { path: '/a', edits })).toBe('ok')
    expect(bench.fs.text('/a')).toBe('$1 c')
    const failing = [...edits.slice(2), { oldText: 'nowhere', newText: '' }]
    expect(await bench.code('multi_edit', { path: '/a', edits: failing })).toBe('no-match')
    expect(bench.fs.text('/a')).toBe('$1 c')
  })
})

describe('append_file', () => {
  it('does not hide a change that this agent has not seen', async () => {
    const bench = await withFiles({ '/a': 'one' }, { extended: true })
    await bench.call('read_file', { path: '/a' })
    await bench.fs.writeFile('/a', 'other')
    expect(await bench.code('append_file', { path: '/a', content: '!' })).toBe('ok')
    expect(await bench.code('write_file', { path: '/a', content: 'x' })).toBe('stale-write')
    expect(bench.fs.text('/a')).toBe('other!')
  })
})

describe('copy, move, mkdir, rm', () => {
  it('replaces a target only when asked, and not one that changed', async () => {
    const bench = await withFiles({ '/a': '1', '/b': '2' }, { extended: true })
    expect(await bench.code('copy', { from: '/a', to: '/b' })).toBe('already-exists')
    await bench.call('read_file', { path: '/b' })
    await bench.fs.writeFile('/b', '3')
    const overwrite = { from: '/a', to: '/b', opts: { overwrite: true } }
    expect(await bench.code('copy', overwrite)).toBe('stale-write')
    expect(await bench.code('move', overwrite)).toBe('stale-write')
    await bench.call('read_file', { path: '/b' })
    expect(await bench.show('move', overwrite)).toBe('moved /a to /b')
    expect(bench.fs.all()).toEqual({ '/b': '1' })
  })

  it('makes and removes', async () => {
    const bench = await withFiles({ '/d/a': '1' })
    expect(await bench.show('mkdir', { path: 'x', opts: { recursive: true } })).toBe('made /x')
    expect(await bench.show('rm', { path: '/d', opts: { recursive: true } })).toBe('removed /d')
    expect(await bench.code('rm', { path: '/d' })).toBe('not-found')
  })
})

describe('input', () => {
  it.each([
    ['read_file', {}],
    ['read_file', { path: '/a', offset: -1 }],
    ['read_file', { path: '/a', limit: 1.5 }],
    ['read_file', { path: '/a', extra: 1 }],
    ['write_file', { path: '/a', content: 1 }],
    ['grep', { pattern: 'a', opts: { maxResults: -1 } }],
    ['grep', { pattern: 'a', opts: { mode: 'fuzzy' } }],
    ['rm', { path: '/a', recursive: true }],
  ])('of %s refuses %j', (name, input) => {
    const result = new ToolBench().tool(name).inputSchema.safeParse(input)
    expect(result.success).toBe(false)
  })
})
