import { beforeAll, describe, expect, it } from 'vitest'
import { events } from '../support/client.ts'
import { describeServer, type Fixture } from '../support/fixture.ts'
import { linesOf, run as runIn } from './support.ts'

describeServer('code', (fixture) => {
  describe('in a JavaScript context', () => {
    javascript(fixture)
  })
  describe('in a TypeScript context', () => {
    typescript(fixture)
  })
  describe('in contexts', () => {
    contexts(fixture)
  })
})

async function refuse(): Promise<never> {
  throw new Error('not taken')
}

function javascript(fixture: Fixture): void {
  let id = ''
  const run = (code: string) => runIn(fixture, id, code)

  beforeAll(async () => {
    id = (await fixture.client.root.interpreter.createCodeContext({ language: 'javascript' })).id
  })

  it('remembers, prints and shows the last value', async () => {
    expect(await run('const a = 41')).toEqual([])
    expect(await run('console.log("hello"); console.error("bad"); a + 1')).toEqual([
      ['stdout', 'hello\n'],
      ['stderr', 'bad\n'],
      ['result', { text: '42' }],
    ])
  })

  it('lets a name be declared again and awaits at the top', async () => {
    await run('const twice = 1')
    expect(await run('const twice = await Promise.resolve(2); twice')).toEqual([
      ['result', { text: '2' }],
    ])
  })

  it('shows plain objects as JSON too', async () => {
    expect(await run('({ a: [1] })')).toEqual([
      ['result', { text: '{ a: [ 1 ] }', json: { a: [1] } }],
    ])
  })

  it.each([
    ['undefined', []],
    ['10n', [['result', { text: '10n' }]]],
    ['NaN', [['result', { text: 'NaN' }]]],
    ['"text"', [['result', { text: "'text'" }]]],
    ['null', [['result', { text: 'null' }]]],
  ])('shows %s', async (code, said) => {
    expect(await run(code)).toEqual(said)
  })

  it('loads modules with require and shows what display is given', async () => {
    expect(await run('require("node:path").join("a", "b")')).toEqual([
      ['result', { text: "'a/b'" }],
    ])
    expect(await run('display({ png: "AA==" })')).toEqual([['result', { png: 'AA==' }]])
  })

  it('tells an error with the lines of the code only', async () => {
    const said = await run('function f() { throw new TypeError("no") }; f()')
    expect(said).toMatchObject([['error', { name: 'TypeError', message: 'no' }]])
    const traceback = linesOf(said)
    expect(traceback).not.toContain('node:')
    expect(await run('let =')).toMatchObject([['error', { name: 'SyntaxError' }]])
  })

  it('loses the context when the code ends the process', async () => {
    expect(await run('process.exit(2)')).toMatchObject([['error', { name: 'ExecutionError' }]])
    await expect(run('1')).rejects.toMatchObject({ code: 'CONTEXT_NOT_FOUND' })
  })
}

function typescript(fixture: Fixture): void {
  it('runs types and enums away', async () => {
    const { interpreter } = fixture.client.root
    const { id } = await interpreter.createCodeContext({ language: 'typescript' })
    const code =
      'interface A { x: number }\nenum E { One = 1 }\nconst a: A = { x: E.One }\na.x as number'
    expect(await runIn(fixture, id, code)).toEqual([['result', { text: '1' }]])
    expect(await runIn(fixture, id, 'const a: = 1')).toMatchObject([
      ['error', { name: 'SyntaxError' }],
    ])
  })
}

function contexts(fixture: Fixture): void {
  const interpreter = () => fixture.client.root.interpreter

  it('reuses any context of the language when none is named', async () => {
    const { id } = await interpreter().createCodeContext({ language: 'javascript' })
    await runIn(fixture, id, 'var secret = "of another purpose"')
    expect(await runIn(fixture, undefined, 'secret', { language: 'javascript' })).toEqual([
      ['result', { text: "'of another purpose'" }],
    ])
  })

  it('makes a context when there is none of the language', async () => {
    await runIn(fixture, undefined, '1', { language: 'typescript' })
    const languages = (await interpreter().listCodeContexts()).map(
      (context: { language: string }) => context.language,
    )
    expect(languages).toContain('typescript')
  })

  it('ends the run of a context that is deleted', async () => {
    const { id } = await interpreter().createCodeContext({ language: 'javascript' })
    const running = runIn(fixture, id, 'await new Promise(() => setInterval(() => {}, 1000))')
    await interpreter().deleteCodeContext(id)
    expect(await running).toMatchObject([['error', { name: 'ExecutionError' }]])
  })

  it('goes on behind a run whose caller failed to take it', async () => {
    const { id } = await interpreter().createCodeContext({ language: 'javascript' })
    const code = 'console.log(1); console.log(2)'
    await expect(
      interpreter().runCodeStream(id, code, undefined, { onStdout: refuse }),
    ).rejects.toThrow('not taken')
    expect(await runIn(fixture, id, '3')).toEqual([['result', { text: '3' }]])
  })

  it('runs the code of one context one after the other', async () => {
    const { id } = await interpreter().createCodeContext({ language: 'javascript' })
    const slow = 'var order = []; await new Promise((done) => setTimeout(done, 100)); order.push(1)'
    const both = [runIn(fixture, id, slow), runIn(fixture, id, 'order.push(2); order.join()')]
    expect((await Promise.all(both))[1]).toEqual([['result', { text: "'1,2'" }]])
  })

  it('streams a run as events', async () => {
    const { id } = await interpreter().createCodeContext({ language: 'javascript' })
    const found = await events(await interpreter().streamCode(id, 'console.log(1); 2'))
    expect(found).toMatchObject([
      { type: 'stdout', text: '1\n' },
      { type: 'result', text: '2' },
      { type: 'execution_complete', execution_count: 1 },
    ])
  })

  it.each([['deleteCodeContext'], ['streamCode']])('%s: an unknown id', async (method) => {
    await expect(interpreter()[method]('unknown', '1')).rejects.toMatchObject({
      code: 'CONTEXT_NOT_FOUND',
      details: { contextId: 'unknown' },
    })
  })

  it('refuses a language it does not speak', async () => {
    await expect(interpreter().createCodeContext({ language: 'cobol' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    })
  })
}
