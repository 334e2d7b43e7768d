import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { DriverCodeOutcome } from '../../src/driver/port.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { drive, ENSURE, startDriverTestbed } from './worker/drive.ts'
import type { Step, StepResult } from './worker/worker.ts'

const reason = await whyNoTestbed()
const outcome = (result: StepResult | undefined): DriverCodeOutcome => {
  if (result?.error !== undefined) throw new Error(JSON.stringify(result.error))
  return result?.value as DriverCodeOutcome
}
const create = (language: string): Step => ({
  call: 'code.create',
  args: [language, { cwd: '/workspace' }],
})
const run = (context: unknown, code: string, timeoutMs = 20_000): Step => ({
  call: 'code.run',
  args: [context, code, { timeoutMs }],
})

describe.skipIf(reason !== undefined)('code', () => {
  let testbed: SandboxTestbed
  const at = (...steps: Step[]): Promise<readonly StepResult[]> =>
    drive(testbed, 'code', [ENSURE, ...steps], { env: { GIVEN: 'given' } }).then((all) =>
      all.slice(1),
    )
  beforeAll(async () => void (testbed = await startDriverTestbed()), 60_000)
  afterAll(() => testbed.stop())

  it('keeps contexts apart, and what they print in order', async () => {
    const [one, two] = (await at(create('python'), create('python'))).map(({ value }) => value)
    expect(one).not.toBe(two)
    const results = await at(
      run(
        one,
        'x = 1\nimport os, sys\nprint(os.getcwd(), os.environ["GIVEN"])\nprint("err", file=sys.stderr)',
      ),
      run(two, 'x'),
      run(one, 'print(x)\nx + 1'),
      { call: 'code.remove', args: [one] },
      run(one, 'x'),
      run('no-such-context', '1'),
    )
    const text = (index: number, type: string): string =>
      outcome(results[index])
        .outputs.flatMap((output) =>
          output.type === type && 'text' in output ? [output.text] : [],
        )
        .join('')
    expect([text(0, 'stdout'), text(0, 'stderr')]).toEqual(['/workspace given\n', 'err\n'])
    expect(outcome(results[1]).error?.name).toBe('NameError')
    expect(text(2, 'stdout')).toBe('1\n')
    expect(outcome(results[2]).outputs.at(-1)).toEqual({ type: 'result', value: '2' })
    expect(results.slice(4).map(({ error }) => error?.['code'])).toEqual([
      'context-missing',
      'context-missing',
    ])
  }, 60_000)

  it('runs JavaScript and TypeScript', async () => {
    const [js, ts] = (await at(create('javascript'), create('typescript'))).map(
      ({ value }) => value,
    )
    const results = await at(
      run(js, 'console.log([1, 2].map((n) => n * 2).join())'),
      run(ts, 'const n: number = 3; console.log(n)'),
    )
    expect(results.map((result) => outcome(result).outputs[0])).toEqual([
      { type: 'stdout', text: '2,4\n' },
      { type: 'stdout', text: '3\n' },
    ])
  }, 60_000)

  it('ends a run at its time, and an aborted one', async () => {
    const [one, two] = (await at(create('python'), create('python'))).map(({ value }) => value)
    const endless = 'import time\nprint("begun", flush=True)\ntime.sleep(300)'
    const results = await at(
      run(one, endless, 700),
      { ...run(two, endless), abortAfterMs: 300 },
      run(one, '1'),
    )
    expect(outcome(results[0])).toEqual({
      timedOut: true,
      outputs: [{ type: 'stdout', text: 'begun\n' }],
    })
    expect(results[0]?.tookMs).toBeLessThan(100_000)
    expect(results[1]?.error?.['message']).toBe('stopped')
    expect(results[2]?.error?.['code']).toBe('context-missing')
  }, 60_000)

  it('knows its languages', async () => {
    const [ruby] = await at(create('ruby'))
    expect([ruby?.error?.['code'], ruby?.trips]).toEqual(['language-missing', []])
  })
})
