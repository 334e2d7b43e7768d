import {
  createToolResultMessage,
  HelixError,
  logMessages,
  renderToolError,
  subAgentOf,
  type Tool,
  type ToolCall,
  type ToolError,
  ToolInputError,
  type ToolResultMessage,
  toToolError,
} from '@helix-agents/core'
import { traced } from '../tracing.ts'
import { CallContext, type CallEffects } from './call-context.ts'
import { CallDeadline } from './call-deadline.ts'
import type { PlacedCall } from './find-open-calls.ts'
import type { Run } from './run.ts'
import { runSubAgent, SubAgentInterrupted } from './sub-agent.ts'

export interface CallResult {
  readonly message: ToolResultMessage
  /** Its result must not be kept without the custom state, which is stored with the step. */
  readonly changedState?: boolean
  /** Set by a tool that completes the run. */
  readonly finish?: { readonly output: unknown }
}

/** `open`: a sub-agent was interrupted; the call goes on when the run is resumed. */
export type CallEnd = CallResult | 'open'

/** Runs one tool call. What the tool throws becomes a result that the model can read. */
export async function dispatchCall(run: Run, placed: PlacedCall): Promise<CallEnd> {
  const { id: toolCallId, name: toolName, arguments: given } = placed.call
  const effects: CallEffects = { changedState: false }
  run.chunks.emit('tool_start', { toolCallId, toolName, arguments: given })
  try {
    const tool = run.toolSet.tools.byName.get(toolName)
    if (tool === undefined) throw unknownTool(toolName)
    run.control.signal.throwIfAborted()
    const output = await invoke(run, tool, placed, effects)
    const message = createToolResultMessage(placed.call, { content: tool.toModelOutput(output) })
    run.chunks.emit('tool_end', { toolCallId, toolName, success: true, result: output })
    const result = { message, changedState: effects.changedState }
    return tool.finishWith === true ? { ...result, finish: { output } } : result
  } catch (error) {
    if (error instanceof SubAgentInterrupted) return 'open'
    logFailure(run, placed.call, error)
    return { ...failCall(run, placed.call, toToolError(error)), ...effects }
  }
}

/** Ends a call with an error, on the stream and for the model. */
export function failCall(run: Run, call: ToolCall, error: ToolError): CallResult {
  const { id: toolCallId, name: toolName } = call
  const { code, message } = error
  run.chunks.emit('tool_end', { toolCallId, toolName, success: false, error: { code, message } })
  return {
    message: createToolResultMessage(call, { content: renderToolError(error), isError: true }),
  }
}

async function invoke(
  run: Run,
  tool: Tool,
  placed: PlacedCall,
  effects: CallEffects,
): Promise<unknown> {
  const { control, services, agent } = run
  const input = await tool.parse(placed.call.arguments)
  const deadline = new CallDeadline(tool, control.signal, services.clock)
  const { signal } = deadline
  const attributes = { 'helix.agent': agent.name, 'helix.tool': tool.name }
  return traced(services.tracer, { name: 'helix.tool_call', attributes }, async () => {
    const subAgent = subAgentOf(tool)
    if (subAgent !== undefined) {
      return deadline.settleFully(runSubAgent(run, { ...placed, subAgent, input, signal }))
    }
    return deadline.settle(
      tool.execute(input, new CallContext(run, placed.call, { signal, effects })),
    )
  })
}

function unknownTool(name: string): ToolInputError {
  return new ToolInputError(
    'unknown-tool',
    `there is no tool ${JSON.stringify(name.slice(0, 100))}`,
    {
      hint: 'Use one of the tools that you were given.',
    },
  )
}

/** The model reads a reduced error; the operator gets the whole one. */
function logFailure({ services, sessionId, runId }: Run, call: ToolCall, error: unknown): void {
  const fields = { error, sessionId, runId, tool: call.name, toolCallId: call.id }
  if (!HelixError.isInstance(error)) services.logger.error(fields, logMessages.toolFailed)
  else if (error.cause !== undefined) services.logger.warn(fields, logMessages.toolFailed)
  else services.logger.debug(fields, logMessages.toolFailed)
}
