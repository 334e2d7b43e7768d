import { decodeBase64 } from '@helix-agents/core/provider'
import { DriverError } from '../driver-error.ts'
import type { ExecOutput } from '../port.ts'
import type { ScriptReply } from './reply.ts'

/** What the script of a command reported. */
export interface RunReport {
  readonly exitCode: number
  readonly timedOut: boolean
  readonly durationMs: number
  readonly epoch: string | null
  readonly stdout: ExecOutput
  readonly stderr: ExecOutput
  /** What was written to descriptor 3, when there was one. */
  readonly channel?: ExecOutput
}

const NOTE_FIELDS = 5
/** Exit code of a command whose time was up, as `timeout` gives it. */
const TIMED_OUT = 124

/**
 * Reads the answer `ended`.
 * @param spillPaths Where whole outputs were put, if any was.
 * @throws {DriverError} `interrupted` when it does not hold together.
 */
export function readRunReport(
  { payload, fields }: ScriptReply,
  spillPaths: { readonly stdout: string; readonly stderr: string },
): RunReport {
  const [exitCode, timedOut, durationMs, epoch, ...notes] = fields
  const [stdout, stderr, channel, ...others] = readOutputs(payload, notes, spillPaths)
  if (stdout === undefined || stderr === undefined || others.length > 0) throw damaged()
  return {
    exitCode: timedOut === '1' ? TIMED_OUT : Number(exitCode),
    timedOut: timedOut === '1',
    durationMs: Number(durationMs),
    epoch: epoch === undefined || epoch === '-' ? null : epoch,
    stdout,
    stderr,
    ...(channel !== undefined && { channel }),
  }
}

function readOutputs(
  payload: string,
  notes: readonly string[],
  spillPaths: { readonly stdout: string; readonly stderr: string },
): readonly ExecOutput[] {
  const paths = [spillPaths.stdout, spillPaths.stderr]
  const outputs: ExecOutput[] = []
  let rest = payload
  for (let at = 0; at < notes.length; at += NOTE_FIELDS) {
    const note = notes.slice(at, at + NOTE_FIELDS)
    const { output, endsAt } = readOutput(rest, note, paths[outputs.length])
    outputs.push(output)
    rest = rest.slice(endsAt)
  }
  // The line break of the last output is the one in front of the last line.
  if (rest !== '') throw damaged()
  return outputs
}

function readOutput(
  text: string,
  [encoding, kept, total, head, isStored]: readonly string[],
  spillPath: string | undefined,
): { readonly output: ExecOutput; readonly endsAt: number } {
  const length = encoding === 'plain' ? Number(kept) : Math.ceil(Number(kept) / 3) * 4
  if (!Number.isInteger(length) || text[length] !== '\n') throw damaged()
  const part = text.slice(0, length)
  const bytes = encoding === 'plain' ? new TextEncoder().encode(part) : decodeBase64(part)
  if (bytes.length !== Number(kept)) throw damaged()
  const isCut = bytes.length < Number(total)
  return {
    output: {
      bytes,
      totalBytes: Number(total),
      ...(isCut && { headBytes: Number(head) }),
      ...(isStored === '1' && spillPath !== undefined && { spillPath }),
    },
    endsAt: length + 1,
  }
}

function damaged(): DriverError {
  return new DriverError('interrupted', 'the output of the command arrived damaged', {
    admitted: 'yes',
  })
}
