import type { Agent } from '../agent/agent-definition.ts'
import { PolicyError } from '../errors/policy-error.ts'
import type { Tool } from '../tools/tool.ts'
import { AgentPermissions, strictest } from './agent-permissions.ts'
import { describeRule, type PermissionSubject, type PermissionVerdict } from './permission-rule.ts'
import { factsOf } from './tool-facts.ts'
import type { CallAccess } from './tool-permission.ts'

const compiled = new WeakMap<object, AgentPermissions>()

/** The compiled rules of an agent; undefined when it has none, so that its calls need no check. */
export function permissionsOf({
  permissions,
}: Pick<Agent, 'permissions'>): AgentPermissions | undefined {
  if (permissions === undefined || permissions.length === 0) return undefined
  const known = compiled.get(permissions)
  if (known !== undefined) return known
  const made = new AgentPermissions(permissions)
  compiled.set(permissions, made)
  return made
}

/** One call, with its parsed arguments. */
export interface CheckedCall {
  readonly tool: Tool
  /** What `tool.parse` returned. */
  readonly input: unknown
  readonly access: CallAccess
}

/** What a call would touch, by its arguments alone. */
export function subjectOf({
  tool,
  input,
}: Pick<CheckedCall, 'tool' | 'input'>): PermissionSubject | Promise<PermissionSubject> {
  return tool.permission?.subject(input) ?? { toolName: tool.name }
}

/**
 * What the rules say of a call. Opens the workspace only where rules depend on paths.
 *
 * @param rules Of the agent; of a sub-agent that shares workspaces also those of its parents: the
 * strictest decides.
 * @throws what opening the workspace throws.
 */
export async function decideCall(
  rules: readonly AgentPermissions[],
  call: CheckedCall,
): Promise<PermissionVerdict> {
  const { tool, access } = call
  const facts = factsOf(tool)
  let subject = await subjectOf(call)
  if (tool.permission !== undefined && rules.some((each) => each.needsPaths(facts))) {
    subject = await tool.permission.resolve(subject, access)
  }
  return strictest(rules.map((each) => each.decide(facts, subject)))
}

/** What the model reads of a call that a rule denies. */
export function permissionDenied({ rule, detail }: PermissionVerdict): PolicyError {
  const which = rule === undefined ? '' : ` (${describeRule(rule)})`
  const why = detail === undefined ? '' : `: ${detail}`
  const text = `The rules of this agent do not allow this call${which}${why}.`
  const hint =
    detail === undefined
      ? 'Asking again changes nothing: go on another way.'
      : 'Give plain commands, one in each call: no substitutions, variables, here documents, comments or code in arguments.'
  return new PolicyError('denied', text, { hint })
}
