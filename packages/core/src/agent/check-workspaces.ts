import * as z from 'zod'
import {
  type AnyModule,
  type Capabilities,
  allCapabilityFlags,
  allModules,
} from '../modules/list.ts'
import type { Tool } from '../tools/tool.ts'
import { MAX_TOOL_NAME_LENGTH, workspaceToolName } from '../tools/tool-name.ts'
import type {
  HistoryPolicy,
  WorkspaceConfigs,
  WorkspaceDeclaration,
} from '../workspace/declaration.ts'

const WORKSPACE_NAME = /^[a-z][a-z0-9-_]*$/

/** Snapshots that a history keeps of one workspace. */
const DEFAULT_KEEP = 50

/** `true` stands for the defaults of a module; `false` for a module that is not declared. */
const capability = <S extends z.ZodType>(schema: S) =>
  z
    .union([z.boolean(), z.unknown()])
    .transform((value) => (value === true ? {} : value === false ? undefined : value))
    .pipe(schema.optional())
    .optional()

const capabilitiesSchema = z.strictObject(
  Object.fromEntries(allModules().map((one) => [one.name, capability(one.configSchema)])),
)

const historySchema = z.union([
  z.literal('step').transform(() => ({ on: 'step' as const, keep: DEFAULT_KEEP })),
  z.strictObject({
    on: z.literal('step'),
    keep: z.int().min(1).default(DEFAULT_KEEP),
    maxAgeMs: z.number().positive().optional(),
  }),
])

const workspaceSchema = z.strictObject({
  provider: z.looseObject({ kind: z.string().min(1) }),
  capabilities: capabilitiesSchema,
  onLost: z.enum(['reopen', 'fail']).default('reopen'),
  history: historySchema.optional(),
})

export interface CheckedWorkspaces {
  readonly declarations: Readonly<Record<string, WorkspaceDeclaration>>
  readonly problems: readonly string[]
}

/** Checks the declared workspaces of an agent and fills in the defaults. */
export function checkWorkspaces(workspaces: WorkspaceConfigs = {}): CheckedWorkspaces {
  const problems: string[] = []
  const declarations: Record<string, WorkspaceDeclaration> = {}
  for (const [name, config] of Object.entries(workspaces)) {
    const parsed = workspaceSchema.safeParse(config)
    const about = (text: string): string => `workspace ${name}: ${text}`
    problems.push(...checkName(name).map(about))
    if (!parsed.success) {
      problems.push(...parsed.error.issues.map((issue) => about(renderIssue(issue))))
      continue
    }
    const capabilities = declaredOnly(parsed.data.capabilities)
    problems.push(...checkCapabilities(name, capabilities).map(about))
    const { provider, onLost, history } = parsed.data
    declarations[name] = Object.freeze({
      name,
      provider,
      capabilities,
      onLost,
      ...(history !== undefined && { history: historyOf(history) }),
    })
  }
  return { declarations, problems }
}

/**
 * What tools were typed by and the agent does not declare. A name that the agent lacks is no
 * problem: its parent may share the workspace.
 */
export function checkUses(
  tools: readonly Tool[],
  declarations: Readonly<Record<string, WorkspaceDeclaration>>,
): string[] {
  const missing = ({ name: tool, workspaces = {} }: Tool): string[] =>
    Object.entries(workspaces).flatMap(([name, { capabilities }]) => {
      const declared = declarations[name]?.capabilities
      return allModules()
        .map((one) => one.name)
        .filter((key) => declared !== undefined && capabilities[key] && !declared[key])
        .map(
          (key) => `tool ${tool}: it uses ${key} of workspace ${name}, which does not declare it`,
        )
    })
  return Array.isArray(tools) ? tools.flatMap(missing) : []
}

function historyOf(given: z.output<typeof historySchema>): HistoryPolicy {
  const { on, keep } = given
  const maxAgeMs = 'maxAgeMs' in given ? given.maxAgeMs : undefined
  return Object.freeze({ on, keep, ...(maxAgeMs !== undefined && { maxAgeMs }) })
}

function checkName(name: string): string[] {
  return WORKSPACE_NAME.test(name) ? [] : ['the name must match [a-z][a-z0-9-_]*']
}

function checkCapabilities(name: string, capabilities: Capabilities): string[] {
  const problems: string[] = []
  const longest = longestToolName(name, capabilities)
  if (longest.length > MAX_TOOL_NAME_LENGTH) {
    const spare = MAX_TOOL_NAME_LENGTH - (longest.length - name.length)
    problems.push(`the name is too long: at most ${spare} characters fit before ${longest}`)
  }
  const hasRules = (capabilities.fs?.pathRules.length ?? 0) > 0
  if (hasRules && capabilities.shell && capabilities.shell.allowedCommands === undefined) {
    problems.push('fs.pathRules mean nothing beside a shell without allowedCommands')
  }
  if (hasRules && capabilities.code) {
    problems.push('fs.pathRules mean nothing beside code, which reads every file')
  }
  return problems
}

function longestToolName(workspace: string, capabilities: Capabilities): string {
  const names = allModules()
    .flatMap((one) => possibleTools(one, capabilities[one.name]))
    .map((tool) => workspaceToolName(workspace, tool.name))
  return names.reduce((longest, next) => (next.length > longest.length ? next : longest), '')
}

/** The tools of a module, in a workspace of a provider that offers everything. */
export function possibleTools({ tools }: AnyModule, config: unknown): AnyModule['tools'] {
  if (config === undefined) return []
  const offered = Object.fromEntries(allCapabilityFlags().map((flag) => [flag, true]))
  return tools.filter((tool) => tool.available(config, offered))
}

/** A capability that was given as `false` is absent. Each value is parsed by its module. */
function declaredOnly(parsed: Readonly<Record<string, unknown>>): Capabilities {
  const declared = Object.entries(parsed).filter(([, config]) => config !== undefined)
  return Object.freeze(Object.fromEntries(declared))
}

function renderIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}
