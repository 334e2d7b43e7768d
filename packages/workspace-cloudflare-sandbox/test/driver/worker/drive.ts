import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSandboxTestbed, type SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { ExecOptions, ExecOutcome } from '../../../src/driver/port.ts'
import type { Session, Step, StepResult } from './worker.ts'
import { decode, encode } from './wire.ts'

/** Starts a test bed with the Worker that exposes the driver. */
export function startDriverTestbed(): Promise<SandboxTestbed> {
  return startSandboxTestbed({
    image: 'python',
    worker: { entry: join(import.meta.dirname, 'worker.ts') },
  })
}

/** The same Worker with the SDK of the 0.13 line in place of 0.12. */
export function startNextTestbed(): Promise<SandboxTestbed> {
  return startSandboxTestbed({
    image: 'python',
    line: '0.13',
    worker: {
      entry: join(import.meta.dirname, 'worker.ts'),
      alias: {
        '@cloudflare/sandbox': fileURLToPath(import.meta.resolve('cloudflare-sandbox-next')),
      },
      bindings: { SDK_LINE: '0.13' },
    },
  })
}

/** Does steps by one driver, one after the other. */
export async function drive(
  testbed: SandboxTestbed,
  sandbox: string,
  steps: readonly Step[],
  more: Partial<Session> = {},
): Promise<readonly StepResult[]> {
  const body = encode({ sandbox, steps, ...more } satisfies Session)
  const response = await testbed.fetch('/', { method: 'POST', body })
  const text = await response.text()
  if (!response.ok) throw new Error(`the Worker answered ${response.status}: ${text}`)
  return decode(text) as StepResult[]
}

export const SPILL = '/workspace/.helix/output'

/** A step that runs a line. */
export function line(command: string, options: Partial<ExecOptions> = {}): Step {
  return {
    call: 'exec',
    args: [
      ['bash', '--noprofile', '--norc', '-c', '--', command],
      {
        cwd: '/workspace',
        maxOutputBytes: 64 * 1024,
        timeoutMs: 20_000,
        spillDirectory: SPILL,
        ...options,
      },
    ],
  }
}

export const ENSURE: Step = { call: 'ensure', args: [{}] }

/** What a step returned; a step that failed fails the test. */
export function valueOf<T>(result: StepResult | undefined): T {
  if (result === undefined || result.error !== undefined) {
    throw new Error(`a step failed: ${JSON.stringify(result?.error)}`)
  }
  return result.value as T
}

/** Standard output of a command as text. */
export function stdoutOf(result: StepResult | undefined): string {
  return new TextDecoder().decode(valueOf<ExecOutcome>(result).stdout.bytes)
}

/** Code of the error of each step. */
export function codesOf(results: readonly StepResult[]): unknown[] {
  return results.map(({ error }) => error?.['code'] ?? 'fine')
}
