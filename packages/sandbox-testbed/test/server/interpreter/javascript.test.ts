import { expect, it } from 'vitest'
import { events } from '../support/client.ts'
import { ALONE, describeServer, type Fixture } from '../support/fixture.ts'
import { RECORDED } from '../support/recorded.ts'
import { contextOf, NO_REPLY, run } from './support.ts'

const CHILD = 'require("node:child_process").spawnSync("echo", ["x"], { stdio: "inherit" })'

describeServer(`JavaScript and TypeScript (${RECORDED})`, (fixture) => {
  it('remember, print and show the last value', async () => {
    const id = await contextOf(fixture, 'javascript')
    expect(await run(fixture, id, 'const a = 41')).toEqual([])
    expect(await run(fixture, id, 'console.log("hello"); console.error("bad"); a + 1')).toEqual([
      ['stdout', 'hello\n'],
      ['stderr', 'bad\n'],
      ['result', { text: '42' }],
    ])
    expect(await run(fixture, id, 'throw new TypeError("no")')).toMatchObject([
      ['error', { name: 'TypeError', message: 'no' }],
    ])
  })

  it('take types away', async () => {
    const id = await contextOf(fixture, 'typescript')
    expect(await run(fixture, id, 'const a: number = 1; a as number')).toEqual([
      ['result', { text: '1' }],
    ])
  })

  it.each([
    ['process.exit after printing', 'console.log("lost"); process.exit(0)'],
    ['a child that writes to stdout', CHILD],
  ])('never reply to %s, and lose its output', async (_, code) => {
    const id = await contextOf(fixture, 'javascript')
    expect(await run(fixture, id, code, { timeoutMs: 300 })).toEqual(NO_REPLY)
  })

  it('go on at full speed after their time, and without their context', async () => {
    const id = await contextOf(fixture, 'javascript')
    await run(fixture, id, 'require("node:fs").writeFileSync("/tmp/pid", String(process.pid))')
    await run(fixture, id, 'while (true) {}', { timeoutMs: 300 })
    await fixture.client.root.interpreter.deleteCodeContext(id)
    const shell = (command: string) => fixture.client.root.commands.execute(command, ALONE)
    expect((await shell('kill -0 "$(cat /tmp/pid)"')).exitCode).toBe(0)
    await shell('kill -KILL "$(cat /tmp/pid)"')
  })
})

describeServer(`interpreters that were started ahead (${RECORDED})`, (fixture) => {
  const shell = (command: string) =>
    fixture.client.root.commands.execute(command, ALONE, { cwd: '/' })
  const WRITE = 'require("node:fs").writeFileSync("made", "x"); process.cwd()'

  it('are in the directory that was there when they were started', async () => {
    await shell('mv /workspace /old && mkdir /workspace')
    const id = await contextOf(fixture, 'javascript')
    expect(await run(fixture, id, WRITE)).toEqual([['result', { text: "'/old'" }]])
    expect((await shell('ls /workspace')).stdout).toBe('')
  })

  it('find nothing by a relative path once it is removed; the next ones cannot start', async () => {
    await shell('rm -rf /workspace /old')
    const made = []
    for (let count = 0; count < 3; count += 1) made.push(await contextOf(fixture, 'typescript'))
    expect(await run(fixture, made[0], WRITE)).toMatchObject([
      ['error', { message: expect.stringContaining('ENOENT') }],
    ])
    await expect(contextOf(fixture, 'typescript')).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining("ENOENT: no such file or directory, posix_spawn 'node'"),
    })
  })
})

describeServer('contexts', contexts)

function contexts(fixture: Fixture): void {
  const interpreter = () => fixture.client.root.interpreter

  it('are any of the language when none is named', async () => {
    const id = await contextOf(fixture, 'javascript')
    await run(fixture, id, 'var secret = "of another purpose"')
    expect(await run(fixture, undefined, 'secret', { language: 'javascript' })).toEqual([
      ['result', { text: "'of another purpose'" }],
    ])
  })

  it('run their code one after the other', async () => {
    const id = await contextOf(fixture, 'javascript')
    const slow = 'var order = []; await new Promise((done) => setTimeout(done, 100)); order.push(1)'
    const both = [run(fixture, id, slow), run(fixture, id, 'order.push(2); order.join()')]
    expect((await Promise.all(both))[1]).toEqual([['result', { text: "'1,2'" }]])
  })

  it('stream a run as events', async () => {
    const id = await contextOf(fixture, 'javascript')
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

  it('refuse a language that they do not speak', async () => {
    await expect(interpreter().createCodeContext({ language: 'cobol' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    })
  })
}
