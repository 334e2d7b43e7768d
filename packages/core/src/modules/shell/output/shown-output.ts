import { cutEnd, cutMiddle, cutStart, MAX_RESULT_CHARACTERS } from '../../../tools/result-budget.ts'
import type { ModuleToolContext } from '../../define-module.ts'
import { decodeText, utf8Length } from '../../fs/text/bytes.ts'
import type { OutputCut, RunResult } from '../contract.ts'
import { firstCharacterStart, wholeCharactersLength } from './utf8-edges.ts'

/** Bytes of each output that a command is asked to return: room for the budget in any script. */
export const MAX_OUTPUT_BYTES = 4 * MAX_RESULT_CHARACTERS

/** What errors keep when both outputs are long. */
const ERROR_CHARACTERS = MAX_RESULT_CHARACTERS / 3
const HEAD_SHARE = 0.1
const OUTPUT_DIRECTORY = '/.helix/output'

/** One output of a command, cut to the budget. */
export interface ShownOutput {
  /** With a line where something was left out. Escape sequences are kept. */
  readonly text: string
  /** Set when the text is not whole. */
  readonly cut?: { readonly totalBytes: number; readonly path?: string }
}

interface Source {
  readonly bytes: Uint8Array
  readonly head: string
  readonly tail: string
  readonly cut: OutputCut | undefined
}

/** Cuts both outputs to one budget; what is left out is stored in the workspace. */
export async function showOutputs(
  result: RunResult,
  context: ModuleToolContext,
): Promise<{ readonly stdout: ShownOutput; readonly stderr: ShownOutput }> {
  const stdout = decode(result.stdout, result.stdoutCut)
  const stderr = decode(result.stderr, result.stderrCut)
  const reserved = Math.min(lengthOf(stderr), ERROR_CHARACTERS)
  const shown = Math.min(lengthOf(stdout), MAX_RESULT_CHARACTERS - reserved)
  return {
    stdout: await capture(stdout, MAX_RESULT_CHARACTERS - reserved, context, '.txt'),
    stderr: await capture(stderr, MAX_RESULT_CHARACTERS - shown, context, '-stderr.txt'),
  }
}

async function capture(
  source: Source,
  budget: number,
  context: ModuleToolContext,
  suffix: string,
): Promise<ShownOutput> {
  if (source.cut === undefined && source.head.length <= budget) return { text: source.head }
  const { head, tail } = cutToBudget(source, budget)
  const totalBytes = source.cut?.totalBytes ?? source.bytes.length
  const stored =
    source.cut === undefined ? await store(context, suffix, source.bytes) : source.cut.path
  const omitted = Math.max(0, totalBytes - utf8Length(head) - utf8Length(tail))
  const where = stored === undefined ? 'not kept' : `whole output: ${stored}`
  const notice = `[… ${omitted} of ${totalBytes} bytes left out; ${where} …]`
  return {
    text: `${withLineEnd(head)}${notice}\n${tail}`,
    cut: stored === undefined ? { totalBytes } : { totalBytes, path: stored },
  }
}

function decode(bytes: Uint8Array, cut: OutputCut | undefined): Source {
  if (cut === undefined) return { bytes, head: decodeText(bytes), tail: '', cut }
  const head = bytes.subarray(0, cut.headBytes)
  const tail = bytes.subarray(cut.headBytes)
  return {
    bytes,
    head: decodeText(head.subarray(0, wholeCharactersLength(head))),
    tail: decodeText(tail.subarray(firstCharacterStart(tail))),
    cut,
  }
}

function cutToBudget(source: Source, budget: number): { head: string; tail: string } {
  if (source.cut === undefined) return cutMiddle(source.head, budget)
  const head = cutEnd(source.head, Math.floor(budget * HEAD_SHARE))
  return { head, tail: cutStart(source.tail, budget - head.length) }
}

/** A workspace that has no room for the output still gives the result. */
async function store(
  context: ModuleToolContext,
  suffix: string,
  bytes: Uint8Array,
): Promise<string | undefined> {
  const name = `${context.clock.now().toString(36)}-${crypto.randomUUID().slice(0, 8)}`
  const path = `${OUTPUT_DIRECTORY}/${name}${suffix}`
  const stored = await context.files?.writeFile(path, bytes).catch(() => undefined)
  return stored?.path
}

function lengthOf(source: Source): number {
  return source.head.length + source.tail.length
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
