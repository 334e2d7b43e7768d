import { TestSampler } from '@helix-agents/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { ExecOutcome } from '../../src/driver/port.ts'
import { drive, ENSURE, line, startDriverTestbed, valueOf } from './worker/drive.ts'
import type { StepResult } from './worker/worker.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { TORTURE } from './torture-list.ts'

const reason = await whyNoTestbed()
const BATCH = 40
/** Lines of a sample. */
const SAMPLED_LINES = 40
const sampler = new TestSampler()
const LINES = sampler.pick('torture', TORTURE, SAMPLED_LINES)
/** Of a line: far beyond what any takes, so that a busy machine changes no exit code. */
const LINE_MS = 600_000

interface Plain {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs lines by a plain bash of the same container, its outputs in files. */
function plainScript(lines: readonly string[]): string {
  const each = lines.map((text) => `one ${quote(text)}`)
  return `mkdir -p /workspace/t; cd /workspace/t
one() {
  bash --noprofile --norc -c -- "$1" </dev/null >/tmp/plain.o 2>/tmp/plain.e
  echo "$? $(base64 -w0 </tmp/plain.o) $(base64 -w0 </tmp/plain.e)"
} 2>/dev/null
{
${each.join('\n')}
} 2>/dev/null`
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

async function plain(testbed: SandboxTestbed, lines: readonly string[]): Promise<readonly Plain[]> {
  const step = { call: 'sdk.exec', args: [plainScript(lines), { cwd: '/', timeout: LINE_MS }] }
  const [result] = await drive(testbed, 'torture', [step])
  return valueOf<{ stdout: string }>(result)
    .stdout.trimEnd()
    .split('\n')
    .map((text) => {
      const [exitCode, out = '', err = ''] = text.split(' ')
      const [stdoutText, stderrText] = [out, err].map((part) =>
        Buffer.from(part, 'base64').toString('latin1'),
      )
      return {
        exitCode: Number(exitCode),
        stdout: stdoutText ?? '',
        stderr: withoutPids(stderrText ?? ''),
      }
    })
}

function ours({ value, error }: StepResult): Plain {
  if (error !== undefined) throw new Error(JSON.stringify(error))
  const { exitCode, stdout, stderr } = value as ExecOutcome
  return { exitCode, stdout: latin1(stdout.bytes), stderr: withoutPids(latin1(stderr.bytes)) }
}

/** Bash names the process whose end it reports. */
function withoutPids(text: string): string {
  return text.replaceAll(/(line \d+:) +\d+ /g, '$1 PID ')
}

describe.skipIf(reason !== undefined)(`torture${reason === undefined ? '' : `: ${reason}`}`, () => {
  let testbed: SandboxTestbed
  beforeAll(async () => {
    testbed = await startDriverTestbed()
    await drive(testbed, 'torture', [ENSURE, line('mkdir -p t')])
  }, 120_000)
  afterAll(() => testbed.stop())

  it('knows at least 150 lines', () => expect(TORTURE.length).toBeGreaterThanOrEqual(150))

  const batches = Array.from({ length: Math.ceil(LINES.length / BATCH) }, (_, n) =>
    LINES.slice(n * BATCH, (n + 1) * BATCH),
  )
  it.each(batches.map((lines, n) => [n + 1, lines] as const))(
    'batch %i means what it means to bash',
    async (_, lines) => {
      const expected = await plain(testbed, lines)
      const steps = lines.map((text) =>
        line(text, { cwd: '/workspace/t', maxOutputBytes: 200_000, timeoutMs: LINE_MS }),
      )
      const results = await drive(testbed, 'torture', [ENSURE, ...steps, line('echo fine')])
      const got = results.slice(1, -1).map(ours)
      const rows = lines.map((text, at) => ({ line: text, ...expected[at] }))
      expect(got.map((plainly, at) => ({ line: lines[at], ...plainly }))).toEqual(rows)
      expect(results.slice(1).every(({ trips }) => trips.length === 1)).toBe(true)
      expect(ours(results.at(-1) as StepResult)).toEqual({
        exitCode: 0,
        stdout: 'fine\n',
        stderr: '',
      })
    },
    LINE_MS,
  )

  it('cuts a long output in the container and keeps the whole', async () => {
    const bytes = sampler.size(100, 20) * 1024 * 1024
    const results = await drive(testbed, 'torture', [
      line(`head -c ${bytes} /dev/zero | tr '\\0' x; echo end`, { maxOutputBytes: 50_000 }),
      line('f=(.helix/output/*.stdout); stat -c %s "${f[@]}"; tail -c 5 "${f[@]}"; rm "${f[@]}"'),
    ])
    const { stdout, exitCode } = valueOf<ExecOutcome>(results[0])
    expect([exitCode, stdout.totalBytes, stdout.bytes.length]).toEqual([0, bytes + 4, 50_000])
    expect(latin1(stdout.bytes.subarray(-6))).toBe('xxend\n')
    expect(results[0]?.trips).toEqual(['exec'])
    expect(ours(results[1] as StepResult).stdout).toBe(`${bytes + 4}\nxend\n`)
  }, 120_000)
})
