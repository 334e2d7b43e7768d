import { describe, expect, test } from 'vitest'
import { askUserTool, defineTool } from '@helix-agents/core'
import { ManualClock, TestSampler } from '@helix-agents/core/testing'
import * as z from 'zod'
import { basisHolds, previewCall } from '../../src/permissions/preview-call.ts'
import type { CapabilitiesInput } from '../../src/modules/list.ts'
import type { Shell } from '../../src/modules/shell/contract.ts'
import type { RequestPreview } from '../../src/state/session-requests.ts'
import { MapFileSystem } from '../modules/fs/map-file-system.ts'
import { MAX_HOLD_MS, measureHold } from '../modules/fs/event-loop-hold.ts'
import { StubAgent } from '../tools/stub-context.ts'

const shell: Shell = { run: () => Promise.reject(new Error('nothing runs here')) }
const DECLARED: CapabilitiesInput = { fs: { extended: true }, shell: { background: true } }

class Previews {
  readonly files = new MapFileSystem()
  readonly agent = new StubAgent({ fs: this.files, shell }, DECLARED)

  async of(name: string, input: object): Promise<RequestPreview> {
    return previewCall({ ...(await this.call(name, input)), args: JSON.stringify(input) })
  }

  async holds(name: string, input: object, { basis }: RequestPreview): Promise<boolean> {
    return basisHolds(await this.call(name, input), basis)
  }

  async call(name: string, given: object) {
    const tool = this.agent.tools.get(name)!
    return { tool, input: await tool.parse(given), access: this.agent.context }
  }
}

describe('changes of files', () => {
  test('write_file shows the diff against the file as it is now', async () => {
    const previews = new Previews()
    await previews.files.writeFile('/a.txt', 'one\ntwo\nthree\n')
    const shown = await previews.of('write_file', { path: 'a.txt', content: 'one\n2\nthree\n' })
    expect(shown).toMatchObject({ title: 'replace /a.txt: 12 bytes', format: 'diff' })
    expect(shown.body).toBe('--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three')
    expect(shown.truncated).toBeUndefined()
  })

  test('a new file, an appended text, edits', async () => {
    const previews = new Previews()
    const created = await previews.of('write_file', { path: '/new', content: 'x\n' })
    expect(created).toMatchObject({ title: 'create /new: 2 bytes', basis: { '/new': null } })
    await previews.files.writeFile('/log', 'a\nb\nc\nd\ne\n')
    const appended = await previews.of('append_file', { path: '/log', content: 'f\n' })
    expect(appended.title).toBe('append to /log: 12 bytes')
    expect(appended.body).toContain('@@ -3,3 +3,4 @@\n c\n d\n e\n+f')
    const edited = await previews.of('edit_file', { path: '/log', oldText: 'c', newText: '$&' })
    expect(edited.body).toContain('-c\n+$&')
    const edits = [
      { oldText: 'a', newText: 'A' },
      { oldText: 'A\nb', newText: 'AB' },
    ]
    const twice = await previews.of('multi_edit', { path: '/log', edits })
    expect(twice.body).toContain('-a\n-b\n+AB\n c')
    expect(new TextDecoder().decode(await previews.files.readFile('/log'))).toBe('a\nb\nc\nd\ne\n')
  })

  test('apply_patch shows what it does to every file', async () => {
    const previews = new Previews()
    await previews.files.writeFile('/a', 'one\n')
    await previews.files.writeFile('/b', 'two\n')
    const patch = [
      '--- a/a',
      '+++ b/a',
      '@@ -1 +1 @@',
      '-one',
      '+ONE',
      '--- a/b',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-two',
      '--- /dev/null',
      '+++ b/c',
      '@@ -0,0 +1 @@',
      '+three',
      '',
    ].join('\n')
    const shown = await previews.of('apply_patch', { patch })
    expect(shown.title).toBe('patch 3 files: /a changed, /b removed, /c created')
    expect(shown.body).toContain('-one\n+ONE')
    expect(shown.body).toContain('+++ /dev/null\n@@ -1,1 +0,0 @@\n-two')
    expect(shown.body).toContain('--- /dev/null\n+++ b/c\n@@ -0,0 +1,1 @@\n+three')
  })

  test('a call that fails as things are says so and shows its arguments', async () => {
    const shown = await new Previews().of('edit_file', { path: '/no', oldText: 'a', newText: 'b' })
    expect(shown.title).toContain('edit_file /no: as things are, the call fails:')
    expect(JSON.parse(shown.body ?? '')).toEqual({ path: '/no', oldText: 'a', newText: 'b' })
    expect(shown.format).toBe('json')
  })

  test('rm names what it removes; copy and move what is at both ends', async () => {
    const previews = new Previews()
    for (const name of ['b', 'a', 'sub/c']) await previews.files.writeFile(`/dir/${name}`, 'xyz')
    const removed = await previews.of('rm', { path: '/dir', opts: { recursive: true } })
    expect(removed.title).toBe('remove /dir: a directory with 1 directory, 3 files, 9 bytes')
    expect(removed.body?.split('\n')).toEqual([
      '/dir/a  3',
      '/dir/b  3',
      '/dir/sub/',
      '/dir/sub/c  3',
    ])
    expect((await previews.of('rm', { path: '/dir/a' })).title).toBe(
      'remove /dir/a: a file of 3 bytes',
    )
    const moved = await previews.of('move', {
      from: '/dir/a',
      to: '/dir/b',
      opts: { overwrite: true },
    })
    expect(moved).toMatchObject({
      title: 'move /dir/a to /dir/b',
      body: '/dir/a: a file of 3 bytes\n/dir/b: a file of 3 bytes',
    })
    expect((await previews.of('mkdir', { path: 'x' })).title).toBe('make the directory /x')
  })
})

describe('commands and code', () => {
  test('words, directory and names of variables', async () => {
    const opts = { cwd: '/repo', env: { TOKEN: 'hunter2', GIT_SSH_COMMAND: 'curl x' } }
    const shown = await new Previews().of('run', { command: `git push "my remote"`, opts })
    expect(shown.title).toBe("git push 'my remote'")
    expect(shown.body).toContain('words: ["git","push","my remote"]\ndirectory: /repo')
    expect(shown.body).toContain('environment: TOKEN, GIT_SSH_COMMAND="curl x"')
    expect(shown.body).not.toContain('hunter2')
  })

  test('a line that is more than words names every command that is known', async () => {
    const command = 'cd /x && ls | xargs rm; $(evil)'
    const shown = await new Previews().of('run', { command, opts: { background: true } })
    expect(shown.title).toBe(command)
    expect(shown.body).toContain('runs: cd /x\nruns: ls\nruns: xargs rm\nruns: rm …')
    expect(shown.body).toContain('may run more: it substitutes something')
    expect(shown.body).toContain('runs in the background')
  })

  test('hidden characters and secrets', async () => {
    const command = 'echo sk-proj-abcdefghijklmnop1234 \u202Etxt; \u0441url p\u0430ypal'
    const { title, body } = await new Previews().of('run', { command })
    expect(title).toBe('echo [redacted] ⟨U+202E⟩txt; ⟨U+0441⟩url p⟨U+0430⟩ypal')
    expect(body).not.toMatch(/sk-proj|\u202E|\u0441/u)
  })
})

test('a question that is too long for a title is whole in the body', async () => {
  const tool = askUserTool()
  const { access } = await new Previews().call('ls', {})
  const question = `Which one? ${'long '.repeat(100)}`
  const input = { question, options: ['a', 'b'] }
  const shown = await previewCall({ tool, input, access, args: '{}' })
  expect(shown.title).toHaveLength(200)
  expect(shown.body).toBe(`${question}\n\n- a\n- b`)
})

describe('the basis', () => {
  test('is void when a file changed, came or went; and holds for the same content', async () => {
    const previews = new Previews()
    const write = { path: '/a', content: 'new' }
    await previews.files.writeFile('/a', 'old')
    const shown = await previews.of('write_file', write)
    expect(await previews.holds('write_file', write, shown)).toBe(true)
    await previews.files.writeFile('/a', 'changed')
    expect(await previews.holds('write_file', write, shown)).toBe(false)
    await previews.files.rm('/a')
    expect(await previews.holds('write_file', write, shown)).toBe(false)
    await previews.files.writeFile('/a', 'old')
    expect(await previews.holds('write_file', write, shown)).toBe(true)
  })

  test('of rm is void when more would be removed', async () => {
    const previews = new Previews()
    const rm = { path: '/dir', opts: { recursive: true } }
    await previews.files.writeFile('/dir/a', 'x')
    const shown = await previews.of('rm', rm)
    expect(await previews.holds('rm', rm, shown)).toBe(true)
    await previews.files.writeFile('/dir/b', '')
    expect(await previews.holds('rm', rm, shown)).toBe(false)
  })

  test('of both ends of a move, and of every file of a patch', async () => {
    const previews = new Previews()
    await previews.files.writeFile('/a', 'one\n')
    const move = { from: '/a', to: '/b' }
    const shown = await previews.of('move', move)
    expect(Object.keys(shown.basis ?? {})).toEqual(['/a', '/b'])
    await previews.files.writeFile('/b', 'x')
    expect(await previews.holds('move', move, shown)).toBe(false)
    const patch = { patch: '--- /a\n+++ /a\n@@ -1 +1 @@\n-one\n+two\n' }
    expect(Object.keys((await previews.of('apply_patch', patch)).basis ?? {})).toEqual(['/a'])
  })

  test('a command and a read have none, and none always holds', async () => {
    const previews = new Previews()
    const shown = await previews.of('run', { command: 'ls' })
    expect(shown.basis).toBeUndefined()
    expect(await previews.holds('run', { command: 'ls' }, shown)).toBe(true)
    const read = await previews.of('read_file', { path: '/a' })
    expect(read).toEqual({ title: 'read_file /a', body: '{\n  "path": "/a"\n}', format: 'json' })
  })

  test.each([null, [], 'x', {}, { '/b': null }])(
    '%j of a stored row never holds',
    async (basis) => {
      const previews = new Previews()
      const input = { path: '/a', content: '' }
      expect(await previews.holds('write_file', input, { title: '', basis })).toBe(false)
    },
  )
})

describe('bounds', () => {
  /** Whole: the most that a file may have. */
  const LARGE = new TestSampler().size(10 * 1024 * 1024, 4 * 1024 * 1024)

  test.each([
    ['write_file', { path: '/big', content: 'y'.repeat(LARGE - 10) }],
    ['write_file', { path: '/big', content: 'line\n'.repeat(LARGE / 8) }],
    ['append_file', { path: '/small', content: 'z\n'.repeat(LARGE / 4) }],
  ] as const)('%s with a large argument leaves others a turn', async (name, input) => {
    const previews = new Previews()
    await previews.files.writeFile('/big', 'x\n'.repeat(LARGE / 2 - 10))
    await previews.files.writeFile('/small', 'x\n')
    const call = { ...(await previews.call(name, input)), args: JSON.stringify(input) }
    const { result, longestMs } = await measureHold(() => previewCall(call))
    expect(result.truncated).toBe(true)
    expect(result.body?.length).toBeLessThanOrEqual(20_000)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  test('large arguments of a tool without a preview', async () => {
    const tool = defineTool({
      name: 'send',
      description: 'Sends.',
      inputSchema: z.object({ text: z.string() }),
      execute: () => 'sent',
    })
    const { access } = await new Previews().call('ls', {})
    const args = JSON.stringify({ text: '\u202E'.repeat(LARGE) })
    const { result, longestMs } = await measureHold(() =>
      previewCall({ tool, input: {}, access, args }, { bodyCharacters: 1000 }),
    )
    expect(result).toMatchObject({ title: 'send', format: 'json', truncated: true })
    expect(result.body?.length).toBeLessThanOrEqual(1000)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  test('a path too long for the title is shown whole in the body', async () => {
    const path = `/${'d'.repeat(250)}/${'e'.repeat(250)}`
    const shown = await new Previews().of('mkdir', { path })
    expect(shown.title).toHaveLength(200)
    expect(shown.body).toBe(`make the directory ${path}`)
    const call = { ...(await new Previews().call('mkdir', { path })), args: '{}' }
    expect((await previewCall(call, { titleCharacters: 20 })).title).toBe('make the directory …')
  })

  test('a preview that takes too long gives the arguments; a stopped call ends it', async () => {
    const previews = new Previews()
    const clock = previews.agent.access.clock
    expect(clock).toBeInstanceOf(ManualClock)
    previews.files.stat = () => new Promise(() => {})
    const input = { path: '/a', content: '' }
    const call = { ...(await previews.call('write_file', input)), args: JSON.stringify(input) }
    const shown = previewCall(call, { timeMs: 1000 })
    await Promise.resolve()
    await clock.advance(1000)
    expect((await shown).title).toBe('write_file /a: its preview took too long')
    const stopped = previewCall(call)
    previews.agent.abort.abort(new Error('stopped'))
    await expect(stopped).rejects.toThrow('stopped')
  })
})
