import type { Agent } from '../agent/agent-definition.ts'
import { AgentDefinitionError } from '../errors/agent-definition-error.ts'
import type { JsonValue } from '../tools/json-schema.ts'
import { toJsonValue } from './json-value.ts'

/**
 * The custom state a session starts with: what the caller gave, completed by the defaults of
 * the state schema.
 * @throws {AgentDefinitionError} `definition-invalid` when the schema does not accept it.
 */
export async function initializeAgentState(
  agent: Agent,
  given?: Readonly<Record<string, unknown>>,
): Promise<JsonValue | undefined> {
  const { stateSchema } = agent
  if (stateSchema === undefined) return given === undefined ? undefined : json(agent, given)
  const result = await stateSchema['~standard'].validate({ ...given })
  if (!result.issues) return json(agent, result.value)
  const problems = result.issues.map((issue) => `${pathOf(issue.path)}: ${issue.message}`)
  throw new AgentDefinitionError(`initial state of agent ${agent.name}`, problems)
}

function json(agent: Agent, value: unknown): JsonValue {
  const result = toJsonValue(value)
  if (result !== undefined) return result
  throw new AgentDefinitionError(`initial state of agent ${agent.name}`, ['it is not plain JSON'])
}

function pathOf(path: readonly (PropertyKey | { readonly key: PropertyKey })[] = []): string {
  return path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') || 'state'
}
