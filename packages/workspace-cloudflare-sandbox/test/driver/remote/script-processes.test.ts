// What is asked of a container about processes, and what is made of the answer.
import { describe, expect, it } from 'vitest'
import { ScriptProcesses } from '../../../src/driver/remote/script-processes.ts'
import { linkTo, said } from './link-to.ts'

const encode = (text: string): string => Buffer.from(text).toString('base64')
const ONCE = { deadlineMs: 30_000, isRepeatable: false }
const REPEATABLE = { deadlineMs: 30_000, isRepeatable: true }
const running = `b2 7 1.2345 - ${encode('sleep 9')}`
const ended = `a1 6 1,5 3 ${encode('true')}`
const process = { id: 'b2', pid: 7, command: 'sleep 9', startedAtMs: 1234, state: 'running' }

function processes(line: string, payload = '') {
  const parts = linkTo((_, nonce) => said(nonce, line, payload))
  parts.link.epoch = 'e7'
  const given = (): string => parts.ran[0]?.script.replaceAll('\n', ' ') ?? ''
  return { ...parts, given, processes: new ScriptProcesses(parts.link, { A: 'own', B: 'own' }) }
}

describe('a process', () => {
  const start = { cwd: '/workspace/d', env: { B: 'given' } }
  it('starts with the variables of all, and its own', async () => {
    const { given, processes: on, ran } = processes('ok', running)
    expect(await on.start(['sleep', '9'], start)).toEqual(process)
    expect(given()).toContain('hx_want=e7 q=/scratch/p-0001 hx_cwd=/workspace/d')
    expect(given()).toContain("hx_title='sleep 9'")
    expect(given()).toContain("hx_argv=(sleep 9) hx_variables=('A=own' 'B=given')")
    expect(ran[0]?.call).toEqual(ONCE)
  })
  it('may have a title', async () => {
    const { given, processes: on } = processes('ok', running)
    await on.start(['sleep', '9'], { ...start, title: 'nap' })
    expect(given()).toContain('hx_title=nap')
  })
  it('that gives no sign may have started', async () => {
    const { processes: on } = processes('ok', '')
    await expect(on.start(['x'], start)).rejects.toMatchObject({
      code: 'failed',
      admitted: 'unknown',
      message: 'the process could not be started',
    })
  })
  it.each([
    ['scratch', 'storage-full', 'no', 'the container has no room for another process'],
    ['cold', 'interrupted', 'no', 'the container was started anew and its files are gone'],
    ['directory file', 'directory-missing', 'no', 'the working directory is a file'],
    ['missing', 'process-missing', 'yes', 'no process has this id'],
  ])('for the answer %s is %s', async (line, code, admitted, message) => {
    const { processes: on } = processes(line)
    await expect(on.start(['x'], start)).rejects.toMatchObject({
      code,
      admitted,
      message: expect.stringContaining(message) as string,
    })
  })
})

it('all processes come in the order of their start', async () => {
  const { processes: on, ran } = processes('ok', `${ended}\n${running}\n\nodd`)
  expect(await on.list()).toEqual([
    process,
    { id: 'a1', pid: 6, command: 'true', startedAtMs: 1500, state: 'exited', exitCode: 3 },
  ])
  expect(ran[0]?.call).toEqual(REPEATABLE)
})

it('a process of which little is told runs, without a name', async () => {
  const bare = { id: 'b2', pid: 7, command: '', startedAtMs: 0, state: 'running' }
  expect(await processes('ok', 'b2 7').processes.list()).toEqual([bare])
  const outputs = await processes('ok', 'b2 7').processes.output('b2', {
    stdoutOffset: 3,
    stderrOffset: 4,
  })
  const nothing = { stdout: new Uint8Array(), stderr: new Uint8Array() }
  expect(outputs).toEqual({
    ...nothing,
    nextStdoutOffset: 3,
    nextStderrOffset: 4,
    process: bare,
  })
})

describe('outputs', () => {
  const from = { stdoutOffset: 3, stderrOffset: 4 }
  it('go on where they were read', async () => {
    const payload = [running, encode('out'), encode('e')].join('\n')
    const { given, processes: on, ran } = processes('ok', payload)
    expect(await on.output('b2', from)).toEqual({
      stdout: new Uint8Array(Buffer.from('out')),
      stderr: new Uint8Array(Buffer.from('e')),
      nextStdoutOffset: 6,
      nextStderrOffset: 5,
      process,
    })
    expect(given()).toContain('q=/scratch/p-b2 out=3 err=4 piece=1048576')
    expect(ran[0]?.call).toEqual(REPEATABLE)
  })
  it('of none are an error', async () => {
    const missing = { code: 'process-missing', admitted: 'yes' }
    for (const line of ['missing', 'ok']) {
      await expect(processes(line).processes.output('b2', from)).rejects.toMatchObject(missing)
    }
  })
})

it('a process is ended by its id, and by nothing else', async () => {
  const { given, processes: on, ran } = processes('ok')
  await on.kill('b2')
  expect([given().includes('q=/scratch/p-b2 n=b2 grace=1000'), ran[0]?.call]).toEqual([
    true,
    REPEATABLE,
  ])
  for (const id of ['', '../x', 'B2', 'b2\n', 'b 2']) {
    const missing = { code: 'process-missing', admitted: 'yes' }
    await expect(on.kill(id)).rejects.toMatchObject(missing)
    await expect(on.output(id, { stdoutOffset: 0, stderrOffset: 0 })).rejects.toMatchObject(missing)
  }
  expect(ran).toHaveLength(1)
})
