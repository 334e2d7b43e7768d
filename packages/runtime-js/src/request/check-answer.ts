import {
  type Agent,
  HelixError,
  type JsonValue,
  type PermissionSubject,
  SessionError,
  type Tool,
  ToolInputError,
} from '@helix-agents/core'
import {
  type AgentPermissions,
  contentProblem,
  describeContentProblem,
  factsOf,
  isStorableId,
  permissionDenied,
  permissionsOf,
  type RequestAnswer,
  type SessionRequest,
  strictest,
  subAgentOf,
  subjectOf,
  toJsonValue,
} from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { argumentsText } from './ask.ts'

/** What a person decides about a request, and how it is carried out. */
export type RequestResponse = (
  | {
      readonly decision: 'approve'
      /** Replaces the arguments of the call: checked as the tool checks them. Default: as asked. */
      readonly input?: unknown
      /** `session`: the same call is not asked about again in the session. Default: once. */
      readonly remember?: 'session'
      readonly reason?: string
    }
  | {
      readonly decision: 'deny'
      /** What the model reads. Default: none. */
      readonly reason?: string
    }
  | {
      readonly decision?: 'output'
      /** The answer to a question, or the result of a call that a client has run. */
      readonly output: unknown
    }
) & {
  /** Who answers: for the record, and for who answers later. Default: not said. */
  readonly by?: string
  /** Whether to resume the session in this process when no run holds it. Default: `true`. */
  readonly resume?: boolean
}

const MAX_REASON = 10_000

type Fields = Readonly<Record<string, unknown>>

/**
 * Checks an answer against its request, as it may come straight from a client.
 * @throws {SessionError} `invalid-answer`, naming the fields
 */
export async function checkAnswer(
  services: RunServices,
  agent: Agent,
  request: SessionRequest,
  given: RequestResponse,
): Promise<RequestAnswer> {
  const fields: Fields = isRecord(given) ? given : {}
  const decision = checkDecision(request, fields)
  const { by } = fields
  if (by !== undefined && !isStorableId(by)) throw invalid(request, 'by must be a short text')
  const reason = checkReason(request, fields['reason'])
  if (decision === 'deny') return { decision, ...reason }
  const found = findTool(services, agent, request)
  if (decision === 'output') {
    return { decision, output: await checkOutput(request, found?.tool, fields['output']) }
  }
  return { decision, ...reason, ...(await checkApproval(request, found, fields)) }
}

function checkDecision(request: SessionRequest, fields: Fields): 'approve' | 'deny' | 'output' {
  const given = fields['decision'] ?? ('output' in fields ? 'output' : undefined)
  const positive = request.kind === 'approval' ? 'approve' : 'output'
  if (given === 'deny') return given
  if (given === positive) return positive
  throw invalid(request, `decision must be ${positive} or deny`)
}

async function checkApproval(
  request: SessionRequest,
  found: RuledTool | undefined,
  { input, remember }: Fields,
): Promise<{ readonly remember?: 'session'; readonly editedArguments?: string }> {
  if (remember !== undefined && remember !== 'session') {
    throw invalid(request, 'remember must be session')
  }
  return {
    ...(remember !== undefined && { remember }),
    ...(input !== undefined && { editedArguments: await checkInput(request, found, input) }),
  }
}

function checkReason(request: SessionRequest, reason: unknown): { readonly reason?: string } {
  if (reason === undefined) return {}
  if (typeof reason === 'string' && reason.length <= MAX_REASON) return { reason }
  throw invalid(request, `reason must be a text of at most ${MAX_REASON} characters`)
}

/** The exact text of the arguments that run instead. */
async function checkInput(
  request: SessionRequest,
  found: RuledTool | undefined,
  given: unknown,
): Promise<string> {
  if (found === undefined) throw invalid(request, `input: there is no tool ${request.toolName}`)
  const text = argumentsText(checkJson(request, 'input', given))
  const problem = contentProblem(text)
  if (problem !== undefined) throw invalid(request, `input is ${describeContentProblem(problem)}`)
  try {
    assertNoRuleDenies(found, await subjectAfter(found, text))
    return text
  } catch (error) {
    throw invalid(request, describe('input', error), error)
  }
}

async function subjectAfter({ tool }: RuledTool, text: string): Promise<PermissionSubject> {
  const input = await tool.parse(JSON.parse(text))
  return subjectOf({ tool, input })
}

/** Checked again when the call starts, then with what its paths lead to. @throws {PolicyError} */
function assertNoRuleDenies({ tool, rules }: RuledTool, subject: PermissionSubject): void {
  const verdict = strictest(rules.map((each) => each.decide(factsOf(tool), subject)))
  if (verdict.decision === 'deny') throw permissionDenied(verdict)
}

async function checkOutput(
  request: SessionRequest,
  tool: Tool | undefined,
  output: unknown,
): Promise<JsonValue> {
  const value = checkJson(request, 'output', output)
  try {
    const parsed = await tool?.parseOutput?.(value)
    return parsed === undefined ? value : checkJson(request, 'output', parsed)
  } catch (error) {
    throw invalid(request, describe('output', error), error)
  }
}

function checkJson(request: SessionRequest, field: string, value: unknown): JsonValue {
  const problem = contentProblem(value)
  const json = problem === undefined ? toJsonValue(value) : undefined
  if (json !== undefined) return json
  throw invalid(request, `${field} is ${describeContentProblem(problem ?? 'not-json')}`)
}

/** Names the fields that do not fit. */
function describe(field: string, error: unknown): string {
  const found = HelixError.isInstance(error) ? (error.cause ?? error) : error
  if (ToolInputError.isInstance(found) && found.issues.length > 0) {
    const issues = found.issues.map(({ path, message }) =>
      path === '' ? `${field}: ${message}` : `${field}.${path}: ${message}`,
    )
    return issues.join('; ')
  }
  return HelixError.isInstance(found) ? `${field}: ${found.message}` : `${field} does not fit`
}

/** A tool of an agent and the permission rules of its calls. */
interface RuledTool {
  readonly tool: Tool
  readonly rules: readonly AgentPermissions[]
}

/** The tool of the agent that asks, on the way from the root to it. */
function findTool(
  { toolSets }: RunServices,
  root: Agent,
  { agentPath, toolName }: SessionRequest,
): RuledTool | undefined {
  let agent = root
  let toolSet = toolSets.of(root)
  let rules = [permissionsOf(root) ?? []].flat()
  for (const name of agentPath.slice(1)) {
    const call = agent.tools.map(subAgentOf).find((one) => one?.agent.name === name)
    if (call === undefined) return undefined
    agent = call.agent
    const { inheritWorkspaces } = call
    toolSet = inheritWorkspaces ? toolSets.inheriting(agent, toolSet) : toolSets.of(agent)
    rules = [inheritWorkspaces ? rules : [], permissionsOf(agent) ?? []].flat()
  }
  const tool = toolSet.tools.byName.get(toolName)
  return tool && { tool, rules }
}

function invalid(
  { sessionId, requestId }: SessionRequest,
  problem: string,
  cause?: unknown,
): SessionError {
  const detail = `the answer to request ${requestId} is not valid: ${problem}`
  return new SessionError('invalid-answer', sessionId, detail, { cause })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
