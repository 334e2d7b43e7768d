import { expect, it } from 'vitest'
import { ALONE, describeServer, type Fixture } from '../support/fixture.ts'
import { RECORDED } from '../support/recorded.ts'
import { contextOf, noPython, NO_REPLY, run } from './support.ts'

const withPython = { missing: noPython, image: 'python' } as const

describeServer(`Python (${RECORDED})`, asRecorded, withPython)

function asRecorded(fixture: Fixture): void {
  it('remembers, prints, and repeats the last value on stdout', async () => {
    const id = await contextOf(fixture, 'python')
    expect(await run(fixture, id, 'x = 1')).toEqual([])
    expect(await run(fixture, id, 'print("hello")\nx + 1')).toEqual([
      ['stdout', 'hello\nOut[2]: 2\n'],
      ['result', { text: '2' }],
    ])
  })

  it('ignores the directory and the variables of a context', async () => {
    const more = { cwd: '/tmp', envVars: { GIVEN: 'given' } }
    const id = await contextOf(fixture, 'python', more)
    const code = 'import os\nprint(os.getcwd(), os.environ.get("GIVEN"))'
    expect(await run(fixture, id, code)).toEqual([['stdout', '/workspace None\n']])
  })

  it('tells no error of broken syntax, which is on stdout in colours', async () => {
    const id = await contextOf(fixture, 'python')
    const said = await run(fixture, id, 'x =')
    expect(said).toMatchObject([['stdout', expect.stringContaining('\u001B[31mSyntaxError')]])
  })

  it('tells an error, and repeats its trace on stdout in colours', async () => {
    const id = await contextOf(fixture, 'python')
    expect(await run(fixture, id, 'raise ValueError("no")')).toMatchObject([
      ['stdout', expect.stringContaining('\u001B[31mValueError: no')],
      ['error', { name: 'ValueError', message: 'no' }],
    ])
  })

  it.each([
    ['a child that writes to stdout', 'import os\nos.system("echo x")'],
    ['reading stdin', 'input()'],
    ['leaving at once', 'print("lost")\nimport os\nos._exit(0)'],
    ['a killed interpreter', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)'],
  ])('never replies to %s, and loses its output', async (_, code) => {
    const id = await contextOf(fixture, 'python')
    expect(await run(fixture, id, code, { timeoutMs: 300 })).toEqual(NO_REPLY)
  })

  it('tells nothing of a run before its end', async () => {
    const id = await contextOf(fixture, 'python')
    const code = 'import time\nprint("begun", flush=True)\ntime.sleep(2)'
    expect(await run(fixture, id, code, { timeoutMs: 300 })).toEqual(NO_REPLY)
  })

  it('lets code that ignores SIGTERM go on, after its time and without its context', async () => {
    const id = await contextOf(fixture, 'python')
    const ignore = 'import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN); None'
    expect(await run(fixture, id, ignore)).toEqual([])
    const code = 'while True:\n    open("/tmp/beats", "a").write("x")\n    time.sleep(0.01)'
    await run(fixture, id, code, { timeoutMs: 300 })
    await fixture.client.root.interpreter.deleteCodeContext(id)
    const beats = async () =>
      Number((await fixture.client.root.commands.execute('stat -c %s /tmp/beats', ALONE)).stdout)
    await expect.poll(beats).toBeGreaterThan(0)
    const before = await beats()
    await expect.poll(beats).toBeGreaterThan(before)
  })
}

describeServer(
  `Python without IPython (${RECORDED})`,
  (fixture) => {
    it('is an error that does not name what is missing', async () => {
      await expect(contextOf(fixture, 'python')).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
        message: 'the python executor ended before it was ready',
      })
    })
  },
  { missing: noPython, image: 'plain-python' },
)

describeServer(`the image of the documented Dockerfile (${RECORDED})`, (fixture) => {
  it('has no Python', async () => {
    const { exitCode } = await fixture.client.root.commands.execute('type python3', ALONE)
    expect(exitCode).toBe(1)
    await expect(contextOf(fixture, 'python')).rejects.toMatchObject({
      code: 'PYTHON_NOT_AVAILABLE',
    })
  })
})
