import { spawnSync } from 'node:child_process'
import { beforeAll, expect, it } from 'vitest'
import { describeServer } from '../support/fixture.ts'
import { linesOf, run as runIn } from './support.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
const missing = hasPython ? undefined : 'python3 is not installed'

const PNG = 'iVBORw0KGgo='

describeServer(
  'a Python context',
  (fixture) => {
    let id = ''
    const run = (code: string, timeoutMs?: number) =>
      runIn(fixture, id, code, timeoutMs === undefined ? {} : { timeoutMs })

    beforeAll(async () => {
      const context = await fixture.client.root.interpreter.createCodeContext({
        language: 'python',
      })
      id = context.id
    }, 30_000)

    it('remembers, prints and shows the last value', async () => {
      expect(await run('x = 41')).toEqual([])
      expect(await run('print("hello")\nx + 1')).toEqual([
        ['stdout', 'hello\n'],
        ['result', { text: '42' }],
      ])
    })

    it('keeps stdout and stderr apart', async () => {
      expect(await run('import sys\nprint("e", file=sys.stderr)\nprint("o", end="")')).toEqual([
        ['stderr', 'e\n'],
        ['stdout', 'o'],
      ])
    })

    it('tells an error with the lines of the code, and goes on', async () => {
      const said = await run('def f():\n  raise ValueError("no")\nf()')
      expect(said).toMatchObject([['error', { name: 'ValueError', message: 'no' }]])
      const traceback = linesOf(said)
      expect(traceback).toContain('raise ValueError("no")')
      expect(traceback).not.toContain('<string>')
      expect(await run('1')).toEqual([['result', { text: '1' }]])
    })

    it('survives a syntax error and sys.exit', async () => {
      expect(await run('x =')).toMatchObject([['error', { name: 'SyntaxError' }]])
      expect(await run('import sys; sys.exit(3)')).toMatchObject([
        ['error', { name: 'SystemExit' }],
      ])
      expect(await run('1')).toEqual([['result', { text: '1' }]])
    })

    it('shows rich values in all their formats', async () => {
      const code =
        'class A:\n  def _repr_html_(self): return "<b>"\n  def __repr__(self): return "A"\nA()'
      expect(await run(code)).toEqual([['result', { text: 'A', html: '<b>' }]])
    })

    it('shows images that are displayed as bytes or by the classes of IPython', async () => {
      const code = `import base64\nfrom IPython.display import display, Image\ndata = base64.b64decode("${PNG}")`
      expect(await run(`${code}\ndisplay(data)\nImage(data=data)`)).toMatchObject([
        ['result', { png: PNG }],
        ['result', { png: PNG }],
      ])
    })

    it('awaits at the top', async () => {
      expect(await run('import asyncio\nawait asyncio.sleep(0)\n7')).toEqual([
        ['result', { text: '7' }],
      ])
    })

    it('runs in /workspace with the variables of its creation', async () => {
      const { interpreter } = fixture.client.root
      const context = await interpreter.createCodeContext({
        language: 'python',
        envVars: { A: 'b' },
      })
      expect(context).toMatchObject({ language: 'python', cwd: '/workspace' })
      expect(context.createdAt).toBeInstanceOf(Date)
      const said = await runIn(fixture, context.id, 'import os\nos.getcwd(), os.environ["A"]')
      expect(said).toEqual([['result', { text: "('/workspace', 'b')" }]])
    })

    it('prints a hundred thousand lines in few pieces', async () => {
      const said = await run('for i in range(100000): print(i)')
      expect(said.length).toBeLessThan(1000)
      expect(
        said
          .map(([, text]) => text)
          .join('')
          .split('\n').length,
      ).toBe(100_001)
    })

    it('loses the context at a time limit', async () => {
      expect(await run('while True: pass', 100)).toMatchObject([
        ['error', { name: 'TimeoutError' }],
      ])
      await expect(run('1')).rejects.toMatchObject({ code: 'CONTEXT_NOT_FOUND' })
    })
  },
  missing,
)
