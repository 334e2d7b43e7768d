// Names and attributes follow the OpenTelemetry conventions for generative AI. Nothing that a
// model, a user, a tool or a file says is in them.
import type { LLMConfig, StepResult, ToolCall } from '@helix-agents/core'
import {
  failSpan,
  failSpanWith,
  type Span,
  type SpanStart,
  type RunUsage,
} from '@helix-agents/core/runtime'
import type { AgentResult, RunError, RunOutcome } from '../agent-result.ts'
import { identifyModel } from './identify-model.ts'
import type { Run } from '../ports.ts'

export function runSpan({ agent, sessionId, runId }: Run): SpanStart {
  return {
    name: `invoke_agent ${agent.name}`,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent.name,
      'gen_ai.conversation.id': sessionId,
      'helix.run.id': runId,
      ...modelAttributes(agent.llmConfig),
    },
  }
}

/**
 * How a run ended; being stopped from outside is no failure.
 * @param usage Of this run alone: a resumed run has a span of its own.
 */
export function recordRun(span: Span | undefined, result: AgentResult, usage: RunUsage): void {
  span?.setAttributes({
    'helix.run.status': result.status,
    'helix.session.steps': result.stepCount,
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
  })
  recordOutcome(span, result)
}

/** One round: a model call and the tools that it asks for. */
export function stepSpan({ recorder }: Run): SpanStart {
  return { name: 'helix.step', attributes: { 'helix.step.number': recorder.stepCount + 1 } }
}

/** A step fails with the run that it ends. */
export function recordOutcome(
  span: Span | undefined,
  outcome:
    | { readonly status: RunOutcome['status']; readonly error?: RunError | undefined }
    | undefined,
): void {
  if (outcome?.status !== 'failed' || outcome.error === undefined) return
  failSpanWith(span, { name: 'RunError', code: outcome.error.code })
}

/** @param config The settings of the call: a hook may have changed those of the agent. */
export function modelSpan({ agent, sessionId, control }: Run, config: LLMConfig): SpanStart {
  const { model } = identifyModel(config.model)
  return {
    name: model === undefined ? 'chat' : `chat ${model}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.agent.name': agent.name,
      'gen_ai.conversation.id': sessionId,
      ...modelAttributes(config),
    },
    signal: control.signal,
    fallbackCode: 'model-failed',
  }
}

/** What the model used, why it stopped, and whether its adapter reports an error. */
export function recordModel(span: Span | undefined, result: StepResult): void {
  if (span === undefined) return
  const { inputTokens, outputTokens } = result.usage ?? {}
  span.setAttributes({
    'gen_ai.response.finish_reasons': [finishReason(result)],
    ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
  })
  if (result.type === 'error') failSpan(span, result.error, { fallbackCode: 'model-failed' })
}

export function toolSpan({ agent, sessionId }: Run, call: ToolCall, isKnown: boolean): SpanStart {
  // The model made up the name of an unknown tool: it could say anything.
  const tool = isKnown ? call.name : 'unknown'
  return {
    name: `execute_tool ${tool}`,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      ...(isPlainWord(call.id) ? { 'gen_ai.tool.call.id': call.id } : {}),
      'gen_ai.tool.type': 'function',
      'gen_ai.agent.name': agent.name,
      'gen_ai.conversation.id': sessionId,
    },
  }
}

function finishReason({ type, stopReason }: StepResult): string {
  if (stopReason === undefined) return FINISH_REASONS[type]
  return isPlainWord(stopReason) ? stopReason : 'other'
}

/** Ids and reasons come from outside: a sentence has no business in a span. */
function isPlainWord(text: string): boolean {
  return /^[\w.:-]{1,128}$/.test(text)
}

const FINISH_REASONS: Readonly<Record<StepResult['type'], string>> = {
  text: 'stop',
  structured_output: 'stop',
  tool_calls: 'tool_calls',
  error: 'error',
}

function modelAttributes({ model: configured }: LLMConfig): Readonly<Record<string, string>> {
  const { model, provider } = identifyModel(configured)
  return {
    ...(model !== undefined && { 'gen_ai.request.model': model }),
    ...(provider !== undefined && { 'gen_ai.provider.name': provider }),
  }
}
