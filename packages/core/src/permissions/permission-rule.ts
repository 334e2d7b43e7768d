import { compareCodePoints } from '../modules/fs/path/path.ts'

/** What a rule says of the calls that it matches. */
export type PermissionDecision = 'allow' | 'ask' | 'deny'

/**
 * A rule about calls of an agent. All that it names must match. `deny` beats `ask` beats `allow`,
 * whatever the order; a call without a rule is allowed. Rules never widen `allowedCommands`,
 * `readOnly` or `pathRules`.
 */
export interface PermissionRule {
  readonly decision: PermissionDecision
  /**
   * Name of a tool: of one of the agent's own, or of a workspace tool without its prefix (`run`) or
   * with it (`workspace__box__run`). Default: every tool.
   */
  readonly tool?: string
  /** Name of a workspace: its tools. Default: every workspace, and the tools that have none. */
  readonly workspace?: string
  /**
   * Words that a command begins with, as `git push *`. A `*` in a word stands for any characters of
   * it; a last `*` for any further words, also none, and may be left out. Default: every call.
   */
  readonly command?: string
  /** Glob of the files, as in `pathRules`: it covers what it matches and all below. Default: every call. */
  readonly path?: string
}

/** A path that a call names. */
export interface TouchedPath {
  readonly path: string
  /** All below it is touched, too. */
  readonly isTree?: boolean
  /** A link in the last place is touched itself, not what it leads to. */
  readonly keepsLink?: boolean
}

/** What a call would touch. */
export interface PermissionSubject {
  /** As the model calls it. */
  readonly toolName: string
  /** Of a workspace tool: its name without the prefix. */
  readonly shortName?: string
  readonly workspace?: string
  /** The command line that it runs. */
  readonly command?: string
  /** Environment variables that it sets for the command. */
  readonly variables?: readonly string[]
  /** Absolute and normalised. */
  readonly paths?: readonly TouchedPath[]
}

/** What the rules say of a call. */
export interface PermissionVerdict {
  readonly decision: PermissionDecision
  /** The rule that decided; absent when none matches. */
  readonly rule?: PermissionRule
  /** Why a command counts although its words do not match. */
  readonly detail?: string
}

/** A rule in words, for people and models: `deny: command "curl *" of tool run`. */
export function describeRule(rule: PermissionRule): string {
  const { decision, command, path, tool, workspace } = rule
  const parts = [
    ...(command === undefined ? [] : [`command ${JSON.stringify(command)}`]),
    ...(path === undefined ? [] : [`path ${JSON.stringify(path)}`]),
    ...(tool === undefined ? [] : [`tool ${tool}`]),
    ...(workspace === undefined ? [] : [`workspace ${workspace}`]),
  ]
  return `${decision}: ${parts.join(', ')}`
}

/**
 * What `remember: 'session'` compares: calls with the same key are the same for a person. Never wider
 * than the tool, the workspace and the same command line, or the same paths, or the same arguments.
 * @param args The exact JSON text of the arguments.
 */
export function subjectKey(subject: PermissionSubject, args: string): string {
  const { toolName, workspace, command, paths } = subject
  const what = command !== undefined || paths === undefined ? { args } : { paths: pathKey(paths) }
  return JSON.stringify({ toolName, workspace, ...what })
}

function pathKey(paths: readonly TouchedPath[]): readonly string[] {
  const keys = paths.map(({ path, isTree = false }) => (isTree ? `${path}/` : path))
  return [...new Set(keys)].toSorted(compareCodePoints)
}
