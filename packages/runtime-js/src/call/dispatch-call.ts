import {
  HelixError,
  type ModelOutput,
  type Tool,
  type ToolCall,
  ToolFailedError,
  ToolInputError,
  type ToolResultMessage,
} from '@helix-agents/core'
import { logMessages, untilAborted } from '@helix-agents/core/provider'
import {
  contentProblem,
  createToolResultMessage,
  describeContentProblem,
  failSpan,
  isModelOutput,
  renderToolError,
  sizeProblem,
  type Span,
  subAgentOf,
  type ToolError,
  traced,
} from '@helix-agents/core/runtime'
import { CallContext } from './call-context.ts'
import { CallDeadline } from './call-deadline.ts'
import { toCallError } from './cut-off-calls.ts'
import type { CallEnd, CallResult, PlacedCall, Run } from '../ports.ts'
import { toolSpan } from '../observe/spans.ts'
import { toStoredOutput } from '../session/stored-outcome.ts'
import { type Admission, admitCall } from '../request/admit-call.ts'
import { withEdit } from '../request/edited-call.ts'
import { isGated } from '../request/gated-call.ts'
import { runSubAgent, SubAgentPaused } from './sub-agent.ts'
import { unreadableArguments } from './unreadable-arguments.ts'

/** Tools that an unknown name may stand for. */
const MAX_SUGGESTIONS = 5
const MAX_REASON_LENGTH = 500

/** A call and what stands in its way. */
export interface Turn extends PlacedCall {
  /** A call in front of it waits for a person: it may ask as well, and must not start. */
  readonly isBlocked: boolean
}

/**
 * Runs one tool call whose turn has come. What the tool throws becomes a result that the model can
 * read.
 * @throws {StateStoreError} `conflict` when the lease has expired and another run has the session; what
 * the store of requests throws.
 */
export async function dispatchCall(run: Run, turn: Turn): Promise<CallEnd> {
  if (run.lease.isStale) await run.lease.confirm()
  const tool = run.toolSet.tools.byName.get(turn.call.name)
  if (turn.isBlocked && (tool === undefined || !isGatedCall(run, turn, tool))) return 'waiting'
  const { tracer } = run.services
  if (tracer === undefined) return runCall(run, turn, tool)
  return traced(
    tracer,
    () => toolSpan(run, turn.call, tool !== undefined),
    (span) => runCall(run, turn, tool, span),
  )
}

async function runCall(
  run: Run,
  turn: Turn,
  tool: Tool | undefined,
  span?: Span,
): Promise<CallEnd> {
  const { call } = turn
  const admission = await admit(run, turn, tool)
  if (admission.type === 'waiting') return 'waiting'
  emitStart(run, call, admission)
  try {
    if (tool === undefined) throw unknownTool(call.name, run.toolSet.tools.byName.keys())
    if (call.problem !== undefined) throw unreadableArguments(call)
    const output = await outputOf(run, turn, { tool, admission })
    if (tool.finishWith === true) assertOutput(output)
    const message = withEdit(render(run, call, tool, output), admission)
    const { id: toolCallId, name: toolName } = call
    run.chunks.emit('tool_end', { toolCallId, toolName, success: true, result: output })
    return tool.finishWith === true ? { message, finish: { output } } : { message }
  } catch (error) {
    if (error instanceof SubAgentPaused) return error.end
    failSpan(span, error, run.control)
    logFailure(run, call, error)
    const notice = tool?.takeNotice?.(run.workspaces.access)
    return failCall(run, call, toCallError(error, turn.isRecovered), notice)
  }
}

/** Most calls start as they are. */
function admit(run: Run, turn: Turn, tool: Tool | undefined): Admission | Promise<Admission> {
  const { call } = turn
  if (tool !== undefined && call.problem === undefined && isGatedCall(run, turn, tool)) {
    return admitCall(run, { ...turn, tool })
  }
  return { type: 'start', arguments: call.arguments, isEdited: false }
}

function isGatedCall(run: Run, { call, asks }: Turn, tool: Tool): boolean {
  return asks || isGated(run, tool) || run.requests.byCall.has(call.id)
}

/** A call that a person was asked about and that does not start is known from its request. */
function emitStart(
  run: Run,
  { id: toolCallId, name: toolName, ...call }: ToolCall,
  admission: Admission,
): void {
  if (admission.type === 'answered') return
  if (admission.type === 'rejected' && admission.wasAsked) return
  const given = admission.type === 'start' ? admission.arguments : call.arguments
  run.chunks.emit('tool_start', { toolCallId, toolName, arguments: given })
}

async function outputOf(
  run: Run,
  turn: Turn,
  { tool, admission }: { readonly tool: Tool; readonly admission: Admission },
): Promise<unknown> {
  if (admission.type === 'answered') return admission.output
  if (admission.type !== 'start') throw admission.type === 'rejected' ? admission.error : undefined
  run.control.signal.throwIfAborted()
  return invoke(run, tool, turn, admission.arguments)
}

/** The call has succeeded: a result that cannot be rendered must not let the model repeat it. */
function render(run: Run, call: ToolCall, tool: Tool, output: unknown): ToolResultMessage {
  const shown = (content: ModelOutput): ToolResultMessage =>
    createToolResultMessage(call, { content })
  try {
    const content = tool.toModelOutput(output)
    if (!isModelOutput(content)) throw new TypeError('toModelOutput gave no text and no parts')
    const message = shown(toPlain(content))
    const problem = sizeProblem(message)
    if (problem === undefined || problem === 'id') return message
    return shown(`(the call succeeded; its result is ${describeContentProblem(problem)})`)
  } catch (error) {
    logFailure(run, call, error)
    return shown('(the call succeeded; its result cannot be shown)')
  }
}

/** Parts with nothing but their own fields: a store may serialize them, and another one may not. */
function toPlain(content: ModelOutput): ModelOutput {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    const { data, mediaType } = part
    return { type: 'media', data, mediaType }
  })
}

/** The output of a run is stored with its session. @throws {ToolFailedError} `tool-failed` */
function assertOutput(output: unknown): void {
  const problem = contentProblem(output) ?? serializationProblem(output)
  if (problem === undefined) return
  throw new ToolFailedError('tool-failed', `the output is ${describeContentProblem(problem)}`)
}

function serializationProblem(output: unknown): 'not-json' | undefined {
  try {
    toStoredOutput(output)
    return undefined
  } catch {
    // A `toJSON` or a getter threw.
    return 'not-json'
  }
}

/** Ends a call with an error, on the stream and for the model. */
export function failCall(run: Run, call: ToolCall, error: ToolError, notice?: string): CallResult {
  const { id: toolCallId, name: toolName } = call
  const { code, message } = error
  run.chunks.emit('tool_end', { toolCallId, toolName, success: false, error: { code, message } })
  const text = renderToolError(error)
  const content = notice === undefined ? text : `${notice}\n${text}`
  return { message: createToolResultMessage(call, { content, isError: true }) }
}

async function invoke(run: Run, tool: Tool, placed: PlacedCall, given: unknown): Promise<unknown> {
  const { control, services } = run
  const parsed = tool.parse(given)
  const deadline = new CallDeadline(tool, control.signal, services.clock)
  const { signal } = deadline
  // An asynchronous schema may never answer.
  const input = parsed instanceof Promise ? untilAborted(parsed, signal) : parsed
  const subAgent = subAgentOf(tool)
  if (subAgent !== undefined) {
    const start = async (): Promise<unknown> =>
      runSubAgent(run, { ...placed, subAgent, input: await input, signal })
    return deadline.settleFully(start())
  }
  const start = async (): Promise<unknown> =>
    tool.execute(await input, new CallContext(run, placed.call, signal))
  return deadline.settle(start())
}

/** Models often leave out the prefix of a workspace. */
function unknownTool(name: string, known: Iterable<string>): ToolInputError {
  const meant = [...known].filter((each) => each.endsWith(`__${name}`)).slice(0, MAX_SUGGESTIONS)
  const hint =
    meant.length === 0
      ? 'Use one of the tools that you were given.'
      : `The full name is ${meant.join(' or ')}.`
  const shown = JSON.stringify(name.slice(0, 100))
  return new ToolInputError('unknown-tool', `there is no tool ${shown}`, { hint })
}

/** The model reads a reduced error; the operator gets the whole one. */
function logFailure(run: Run, call: ToolCall, error: unknown): void {
  const { services, sessionId, runId } = run
  const fields = { err: error, sessionId, runId, tool: call.name, toolCallId: call.id }
  const isStopped = run.control.cause !== undefined && error === run.control.signal.reason
  if (isStopped) services.logger.debug(fields, logMessages.toolFailed)
  else if (!HelixError.isInstance(error)) services.logger.error(fields, logMessages.toolFailed)
  else if (error.cause === undefined) services.logger.debug(fields, logMessages.toolFailed)
  else {
    const key = JSON.stringify([sessionId, call.name, error.code, reasonOf(error.cause)])
    services.rateLimitedLogger.warnRateLimited(key, logMessages.toolFailed, fields)
  }
}

/** What tells one failure of a tool from another. */
function reasonOf(cause: unknown): string {
  const message: unknown = cause instanceof Error ? cause.message : cause
  return typeof message === 'string' ? message.slice(0, MAX_REASON_LENGTH) : ''
}
