import { describe, expect, it } from 'vitest'
import { ToolBench } from '../tool-bench.ts'

const PATCH = `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+$& 2
 three
--- /dev/null
+++ b/dir/new.txt
@@ -0,0 +1,2 @@
+hello
+world
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

async function bench(config = {}) {
  const made = new ToolBench({ extended: true, ...config })
  await made.fs.writeFile('/a.txt', 'one\ntwo\nthree\n')
  await made.fs.writeFile('/old.txt', 'gone\n')
  return made
}

describe('apply_patch', () => {
  it('changes, makes and removes files', async () => {
    const made = await bench()
    const shown = await made.show('apply_patch', { patch: PATCH })
    expect(shown).toMatch(/^changed \/a.txt, version v\d+\n--- a\/a.txt\n/)
    expect(shown.match(/^(?:created|removed) \S+/gm)).toEqual([
      'created /dir/new.txt,',
      'removed /old.txt',
    ])
    expect(shown).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+$& 2\n three\n')
    expect(made.fs.all()).toEqual({
      '/a.txt': 'one\n$& 2\nthree\n',
      '/dir/new.txt': 'hello\nworld\n',
    })
  })

  it('keeps CRLF', async () => {
    const made = await bench()
    await made.fs.writeFile('/a.txt', 'one\r\ntwo\r\nthree\r\n')
    expect(await made.code('apply_patch', { patch: PATCH })).toBe('ok')
    expect(made.fs.text('/a.txt')).toBe('one\r\n$& 2\r\nthree\r\n')
  })

  it.each([
    ['does not fit', PATCH.replace(' three', ' four'), 'patch-failed'],
    ['names a missing file', PATCH.replaceAll('old.txt', 'none.txt'), 'not-found'],
    ['makes an existing file', PATCH.replace('b/dir/new.txt', 'b/old.txt'), 'already-exists'],
    ['names a file twice', PATCH.replaceAll('old.txt', 'a.txt'), 'patch-failed'],
    ['climbs out', PATCH.replace('b/dir/new.txt', 'b/../../x'), 'path-escape'],
    ['renames onto a file', PATCH.replace('+++ b/a.txt', '+++ b/old.txt'), 'patch-failed'],
    ['is no diff', 'hello', 'patch-failed'],
    ['is broken', '--- a\n+++ b\n@@ -1,9 +1,9 @@\n x', 'patch-failed'],
    ['has no names', '@@ -1 +1 @@\n-a\n+b\n', 'patch-failed'],
  ])('changes nothing when it %s', async (_what, patch, code) => {
    const made = await bench()
    const before = made.fs.all()
    expect(await made.code('apply_patch', { patch })).toBe(code)
    expect(made.fs.all()).toEqual(before)
  })

  it('undoes what it wrote when a later write fails', async () => {
    const made = await bench()
    const before = made.fs.all()
    const write = made.fs.writeFile.bind(made.fs)
    made.fs.writeFile = async (path, data, options) => {
      if (path === '/dir/new.txt') throw new Error('disk')
      return write(path, data, options)
    }
    await expect(made.call('apply_patch', { patch: PATCH })).rejects.toThrow('disk')
    expect(made.fs.all()).toEqual(before)
    made.fs.writeFile = write
    expect(await made.code('write_file', { path: '/a.txt', content: 'x' })).toBe('ok')
  })

  it('undoes new files and removals, and reports what it cannot undo', async () => {
    const made = await bench()
    made.fs.rm = async () => {
      await made.fs.writeFile('/a.txt', 'foreign')
      throw new Error('disk')
    }
    expect(await made.code('apply_patch', { patch: PATCH })).toBe('patch-failed')
    expect(made.fs.text('/a.txt')).toBe('foreign')
    expect(made.fs.text('/old.txt')).toBe('gone\n')
  })

  it('is refused when a file changed since it was read', async () => {
    const made = await bench()
    await made.call('read_file', { path: '/old.txt' })
    await made.fs.writeFile('/old.txt', 'gone\n')
    expect(await made.code('apply_patch', { patch: PATCH })).toBe('stale-write')
    expect(made.fs.text('/a.txt')).toBe('one\ntwo\nthree\n')
  })

  it('needs the lines to have been read, where that is required', async () => {
    const made = await bench({ requireReadBeforeWrite: true })
    expect(await made.code('apply_patch', { patch: PATCH })).toBe('stale-write')
    for (const path of ['/a.txt', '/old.txt']) await made.call('read_file', { path })
    expect(await made.code('apply_patch', { patch: PATCH })).toBe('ok')
  })

  const TRANSFERS = `diff --git a/a.txt b/copy.txt
copy from a.txt
copy to copy.txt
diff --git a/a.txt b/moved.txt
rename from a.txt
rename to moved.txt
--- a/a.txt
+++ b/moved.txt
@@ -1 +1 @@
-one
+1
--- /dev/null
+++ b/last.txt
@@ -0,0 +1 @@
+last
`

  it('undoes moves and copies', async () => {
    const made = await bench()
    const before = made.fs.all()
    const write = made.fs.writeFile.bind(made.fs)
    made.fs.writeFile = async (path, data, options) => {
      if (path === '/last.txt') throw new Error('disk')
      return write(path, data, options)
    }
    await expect(made.call('apply_patch', { patch: TRANSFERS })).rejects.toThrow('disk')
    expect(made.fs.all()).toEqual(before)
    made.fs.writeFile = write
    expect(await made.code('apply_patch', { patch: TRANSFERS })).toBe('ok')
    expect(Object.keys(made.fs.all()).toSorted()).toEqual([
      '/copy.txt',
      '/last.txt',
      '/moved.txt',
      '/old.txt',
    ])
  })

  it('knows what it has moved and copied', async () => {
    const made = await bench({ requireReadBeforeWrite: true })
    expect(await made.code('apply_patch', { patch: TRANSFERS })).toBe('stale-write')
    await made.call('read_file', { path: '/a.txt' })
    expect(await made.code('apply_patch', { patch: TRANSFERS })).toBe('ok')
    for (const path of ['/moved.txt', '/copy.txt', '/last.txt']) {
      expect([path, await made.code('write_file', { path, content: 'x' })]).toEqual([path, 'ok'])
    }
  })

  it('reads a path as the shell prints it', async () => {
    const made = await bench()
    made.shellRoot = '/workspace'
    const patch = '--- /workspace/old.txt\n+++ /workspace/old.txt\n@@ -1 +1 @@\n-gone\n+here\n'
    expect(await made.code('apply_patch', { patch })).toBe('ok')
    expect(made.fs.text('/old.txt')).toBe('here\n')
  })

  it('removes a file that is no text, and puts it back', async () => {
    const made = await bench()
    const bytes = new Uint8Array([0, 255, 1])
    await made.fs.writeFile('/bin', bytes)
    const gone = '*** Begin Patch\n*** Delete File: bin\n*** Add File: n\n+x\n*** End Patch\n'
    const write = made.fs.writeFile.bind(made.fs)
    made.fs.writeFile = async (path, data, options) => {
      if (path === '/n') throw new Error('disk')
      return write(path, data, options)
    }
    await expect(made.call('apply_patch', { patch: gone })).rejects.toThrow('disk')
    expect([...made.fs.files.get('/bin')!.bytes]).toEqual([...bytes])
  })
})
