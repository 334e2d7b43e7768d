import { MAX_RESULT_CHARACTERS } from '../../../../tools/result-budget.ts'
import type { ModuleToolCall, ModuleToolWork } from '../../../define-module.ts'
import { decodeText } from '../../../fs/text/bytes.ts'
import { backgroundMissing } from '../../background-missing.ts'
import type { ShellConfig } from '../../config.ts'
import type { BackgroundProcess, Shell } from '../../contract.ts'
import { describeProcess } from '../../describe-process.ts'
import { plainTerminalText } from '../../output/terminal-text.ts'
import { wholeCharactersLength } from '../../output/utf8-edges.ts'

/** One page of each output, in bytes; two pages fill the budget. */
const PAGE_BYTES = MAX_RESULT_CHARACTERS / 2

/** The arguments of `process_output`. */
export interface ProcessOutputInput {
  readonly id: string
  readonly stdoutOffset?: number
  readonly stderrOffset?: number
}

type ProcessOutputCall = ModuleToolCall<Shell, ShellConfig, ProcessOutputInput>

/** What a background process has printed from an offset on. */
export interface ProcessOutputPage {
  readonly process: BackgroundProcess
  readonly stdout: string
  readonly stderr: string
  /** Give these back to read on. */
  readonly nextStdoutOffset: number
  readonly nextStderrOffset: number
  /** There is more already. */
  readonly hasMore: boolean
}

export const processOutputWork: ModuleToolWork<
  Shell,
  ShellConfig,
  ProcessOutputInput,
  ProcessOutputPage
> = { execute: readOutputs, toModelOutput: renderPage }

async function readOutputs({
  module,
  input,
  context,
}: ProcessOutputCall): Promise<ProcessOutputPage> {
  if (module.output === undefined) throw backgroundMissing(context.workspace)
  const { id, ...from } = input
  const output = await module.output(id, from)
  const isRunning = output.process.state === 'running'
  const stdout = firstPage(output.stdout, isRunning)
  const stderr = firstPage(output.stderr, isRunning)
  return {
    process: output.process,
    stdout: stdout.text,
    stderr: stderr.text,
    nextStdoutOffset: output.nextStdoutOffset - stdout.leftBytes,
    nextStderrOffset: output.nextStderrOffset - stderr.leftBytes,
    hasMore: output.stdout.length > PAGE_BYTES || output.stderr.length > PAGE_BYTES,
  }
}

/** Never splits a character; the rest of one that is still being printed comes with the next page. */
function firstPage(bytes: Uint8Array, isRunning: boolean): { text: string; leftBytes: number } {
  const page = bytes.subarray(0, PAGE_BYTES)
  const mayGrow = isRunning || page.length < bytes.length
  const taken = mayGrow ? wholeCharactersLength(page) : page.length
  return { text: decodeText(page.subarray(0, taken)), leftBytes: bytes.length - taken }
}

function renderPage(page: ProcessOutputPage): string {
  const stdout = plainTerminalText(page.stdout)
  const stderr = plainTerminalText(page.stderr)
  const next = `stdoutOffset: ${page.nextStdoutOffset}, stderrOffset: ${page.nextStderrOffset}`
  return [
    `[${describeProcess(page.process)}]`,
    ...(stdout === '' ? [] : [`[stdout]\n${stdout}`]),
    ...(stderr === '' ? [] : [`[stderr]\n${stderr}`]),
    ...(stdout === '' && stderr === '' ? ['[no new output]'] : []),
    `[${page.hasMore ? 'there is more: ' : ''}read on with ${next}]`,
  ].join('\n')
}
