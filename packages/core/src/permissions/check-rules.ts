import * as z from 'zod'
import { isGlob } from '../modules/fs/search/glob.ts'
import { parseCommandPattern } from './command-pattern.ts'
import { describeRule, type PermissionRule } from './permission-rule.ts'
import { isAbout, type ToolFacts } from './tool-facts.ts'

const MAX_RULES = 1000
const STRENGTH = ['allow', 'ask', 'deny'] as const

const ruleSchema = z.strictObject({
  decision: z.enum(STRENGTH),
  tool: z.string().min(1).optional(),
  workspace: z.string().min(1).optional(),
  command: z.string().min(1).optional(),
  path: z.string().min(1).optional(),
})

/**
 * What is wrong with the rules of an agent, each by its place in the list. A rule that can never
 * match, or never decide, is a mistake of its author.
 *
 * @param toolsOf All tools that the agent may have.
 */
export function checkPermissions(rules: unknown, toolsOf: () => readonly ToolFacts[]): string[] {
  if (rules === undefined) return []
  if (!Array.isArray(rules)) return ['permissions must be an array of rules']
  if (rules.length > MAX_RULES) return [`permissions has more than ${MAX_RULES} rules`]
  const read: PermissionRule[] = []
  const tools = toolsOf()
  return rules.flatMap((given: unknown, index) => {
    const parsed = ruleSchema.safeParse(given)
    const about = (text: string): string => `permissions.${index}: ${text}`
    if (!parsed.success) return parsed.error.issues.map((issue) => about(renderIssue(issue)))
    const rule = withoutAbsent(parsed.data)
    const problems = [...checkRule(rule, tools), ...checkShadow(rule, read)]
    read.push(rule)
    return problems.map(about)
  })
}

function renderIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

function withoutAbsent(rule: z.output<typeof ruleSchema>): PermissionRule {
  const { decision, tool, workspace, command, path } = rule
  return {
    decision,
    ...(tool !== undefined && { tool }),
    ...(workspace !== undefined && { workspace }),
    ...(command !== undefined && { command }),
    ...(path !== undefined && { path }),
  }
}

function checkRule(rule: PermissionRule, tools: readonly ToolFacts[]): string[] {
  const { tool, workspace, command, path } = rule
  if ([tool, workspace, command, path].every((selector) => selector === undefined)) {
    return ['it names no tool, workspace, command or path']
  }
  const problems = [...checkCommand(command), ...checkPath(path)]
  if (problems.length > 0) return problems
  return checkReach(rule, tools)
}

function checkCommand(command: string | undefined): string[] {
  const problem = command === undefined ? undefined : parseCommandPattern(command).problem
  return problem === undefined ? [] : [`the command ${JSON.stringify(command)}: ${problem}`]
}

function checkPath(path: string | undefined): string[] {
  if (path === undefined || isGlob(path)) return []
  return [`the path ${JSON.stringify(path)} is no glob`]
}

/** A rule that no call of the agent can match. */
function checkReach(rule: PermissionRule, tools: readonly ToolFacts[]): string[] {
  const { tool, workspace } = rule
  if (workspace !== undefined && !tools.some((each) => each.workspace === workspace)) {
    return never(`the agent has no workspace ${workspace}${hintOfNames(tools)}`)
  }
  const meant = tools.filter((each) => isAbout(rule, each))
  if (meant.length > 0) return checkSelectors(rule, meant)
  const place = workspace === undefined ? 'the agent' : `workspace ${workspace}`
  return never(`${place} has no tool ${tool ?? ''}`)
}

function checkSelectors(
  { tool, command, path }: PermissionRule,
  meant: readonly ToolFacts[],
): string[] {
  const [subject, no] = tool === undefined ? ['no tool of it', ''] : [`the tool ${tool}`, 'no ']
  if (command !== undefined && !meant.some(({ hasCommand }) => hasCommand)) {
    return never(`${subject} runs ${no}commands`)
  }
  if (path !== undefined && !meant.some(({ hasPaths }) => hasPaths)) {
    return never(`${subject} names ${no}paths`)
  }
  const needsBoth = command !== undefined && path !== undefined
  if (needsBoth && !meant.some(({ hasCommand, hasPaths }) => hasCommand && hasPaths)) {
    return never('no tool has both a command and paths')
  }
  return []
}

function never(why: string): string[] {
  return [`it can never match: ${why}`]
}

function hintOfNames(tools: readonly ToolFacts[]): string {
  const names = new Set(tools.flatMap((each) => each.workspace ?? []))
  return names.size === 0 ? '' : `; it has ${[...names].join(', ')}`
}

/** The same rule twice, or beside a stronger one, never decides. */
function checkShadow(rule: PermissionRule, earlier: readonly PermissionRule[]): string[] {
  const same = earlier.find((other) => selectorsOf(other) === selectorsOf(rule))
  if (same === undefined) return []
  const [weaker, stronger] =
    STRENGTH.indexOf(same.decision) >= STRENGTH.indexOf(rule.decision)
      ? ['it', describeRule(same)]
      : [describeRule(same), 'it']
  return [`${weaker} never decides beside ${stronger}`]
}

function selectorsOf({ tool, workspace, command, path }: PermissionRule): string {
  return JSON.stringify([tool, workspace, command, path])
}
