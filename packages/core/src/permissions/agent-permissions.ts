import { compilePathPattern, type PathPattern } from '../modules/fs/policy/path-access.ts'
import { isGlob } from '../modules/fs/search/glob.ts'
import { type CommandLine, readCommandLine } from '../modules/shell/command-line.ts'
import type { CommandWord } from '../modules/shell/line-scanner.ts'
import { programName } from '../modules/shell/words.ts'
import { type CommandPattern, matchesCommand, parseCommandPattern } from './command-pattern.ts'
import type {
  PermissionDecision,
  PermissionRule,
  PermissionSubject,
  PermissionVerdict,
  TouchedPath,
} from './permission-rule.ts'
import { isAbout, type ToolFacts } from './tool-facts.ts'

const STRENGTH: Readonly<Record<PermissionDecision, number>> = { allow: 0, ask: 1, deny: 2 }
const NO_RULE: PermissionVerdict = { decision: 'allow' }

interface CommandRule {
  readonly rule: PermissionRule
  readonly pattern: CommandPattern
}

interface PathRule {
  readonly rule: PermissionRule
  readonly exact: PathPattern
  /** For paths in their folded form. */
  readonly loose: PathPattern
}

/** Rules on commands, the strongest first. */
interface CommandRules {
  readonly all: readonly CommandRule[]
  /** Those on one program, by its name. */
  readonly byProgram: ReadonlyMap<string, readonly CommandRule[]>
  readonly onAny: readonly CommandRule[]
}

/** The rules that are about one tool. */
interface ToolRules {
  /** The strongest of those that match every call. */
  readonly every: PermissionVerdict
  readonly commands: CommandRules
  readonly paths: readonly PathRule[]
}

/** The rules of an agent, compiled. Decides without any side effect. */
export class AgentPermissions {
  readonly #rules: readonly PermissionRule[]
  /** By the name of the tool; each is made once. */
  readonly #byTool = new Map<string, ToolRules>()

  constructor(rules: readonly PermissionRule[]) {
    this.#rules = rules
  }

  /** Whether a decision on calls of the tool depends on the paths that they name. */
  needsPaths(tool: ToolFacts): boolean {
    return this.#rulesOf(tool).paths.length > 0
  }

  /** What the rules say of a call. `deny` beats `ask` beats `allow`; no rule: `allow`. */
  decide(tool: ToolFacts, subject: PermissionSubject): PermissionVerdict {
    const { every, commands, paths } = this.#rulesOf(tool)
    if (every.decision === 'deny') return every
    const { command, variables } = subject
    const verdicts = [every]
    if (commands.all.length > 0 && command !== undefined) {
      verdicts.push(decideCommand(commands, readCommandLine(command, variables)))
    }
    if (paths.length > 0) verdicts.push(decidePaths(paths, subject.paths ?? []))
    return strictest(verdicts)
  }

  #rulesOf(tool: ToolFacts): ToolRules {
    const known = this.#byTool.get(tool.name)
    if (known !== undefined) return known
    const rules = compileFor(this.#rules.filter((rule) => isAbout(rule, tool)))
    this.#byTool.set(tool.name, rules)
    return rules
  }
}

/** The strongest verdict; of equal ones the first that names a rule. */
export function strictest(verdicts: readonly PermissionVerdict[]): PermissionVerdict {
  let found = NO_RULE
  for (const verdict of verdicts) {
    const isStronger = STRENGTH[verdict.decision] > STRENGTH[found.decision]
    const isNamed = verdict.decision === found.decision && found.rule === undefined
    if (isStronger || isNamed) found = verdict
  }
  return found
}

function compileFor(rules: readonly PermissionRule[]): ToolRules {
  // The strongest come first, so that the first match decides.
  const sorted = rules.toSorted((a, b) => STRENGTH[b.decision] - STRENGTH[a.decision])
  const every = sorted.find((rule) => rule.command === undefined && rule.path === undefined)
  return {
    every: every === undefined ? NO_RULE : { decision: every.decision, rule: every },
    commands: indexRules(sorted.flatMap((rule) => compileCommandRule(rule))),
    paths: sorted.flatMap((rule) => compilePathRule(rule)),
  }
}

function compileCommandRule(rule: PermissionRule): CommandRule[] {
  const { pattern } = rule.command === undefined ? {} : parseCommandPattern(rule.command)
  return pattern === undefined ? [] : [{ rule, pattern }]
}

function compilePathRule(rule: PermissionRule): PathRule[] {
  if (rule.path === undefined) return []
  const exact = compilePathPattern(rule.path)
  const folded = fold(rule.path)
  const isFoldable = folded !== rule.path && isGlob(folded)
  const loose = isFoldable ? compilePathPattern(folded) : exact
  return [{ rule, exact, loose }]
}

function indexRules(all: readonly CommandRule[]): CommandRules {
  const byProgram = Map.groupBy(all, ({ pattern }) => pattern.program ?? '')
  const onAny = byProgram.get('') ?? []
  return { all, byProgram, onAny }
}

function covers(pattern: PathPattern, { path, isTree = false }: TouchedPath): boolean {
  const relative = path.slice(1)
  return pattern.matches(relative) || (isTree && pattern.mayCoverBelow(relative))
}

/** Some file systems know no case, and no difference between the forms of a letter. */
function fold(text: string): string {
  return /[^\0-@[-~]/.test(text) ? text.normalize('NFC').toLowerCase() : text
}

function decidePaths(rules: readonly PathRule[], paths: readonly TouchedPath[]): PermissionVerdict {
  const folded = paths.map((touched) => ({ ...touched, path: fold(touched.path) }))
  const isFolded = folded.every(({ path }, index) => path === paths[index]?.path)
  const found = rules.find(
    ({ exact, loose }) =>
      folded.some((path) => covers(loose, path)) ||
      ((exact !== loose || !isFolded) && paths.some((path) => covers(exact, path))),
  )
  return verdictOf(found)
}

function decideCommand(rules: CommandRules, line: CommandLine): PermissionVerdict {
  const { commands, opaque } = line
  const [strongest] = rules.all
  if (opaque !== undefined && strongest !== undefined && strongest.rule.decision !== 'allow') {
    return { ...verdictOf(strongest), detail: `the command cannot be taken apart: ${opaque}` }
  }
  return strictest(commands.map((words) => verdictOf(findRule(rules, words))))
}

function findRule(
  { all, byProgram, onAny }: CommandRules,
  words: readonly CommandWord[],
): CommandRule | undefined {
  const [program] = words
  if (program === undefined) return all[0]
  const named = byProgram.get(programName(program).toLowerCase()) ?? []
  const found = [named, onAny].flatMap(
    (rules) => rules.find(({ pattern }) => matchesCommand(pattern, words)) ?? [],
  )
  return found.toSorted(byStrength)[0]
}

function byStrength(a: CommandRule, b: CommandRule): number {
  return STRENGTH[b.rule.decision] - STRENGTH[a.rule.decision]
}

function verdictOf(found: { readonly rule: PermissionRule } | undefined): PermissionVerdict {
  return found === undefined ? NO_RULE : { decision: found.rule.decision, rule: found.rule }
}
