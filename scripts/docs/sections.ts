// The generated sections of the docs, by name. Each is a function of its arguments.
import * as z from 'zod'
import type { ToolAnnotations } from '../../packages/core/src/index.ts'
import {
  allCapabilityFlags,
  allModules,
  type ModuleName,
  type ModuleTool,
  workspaceModules,
} from '../../packages/core/src/runtime.ts'
import { workspaceBehaviours } from '../../packages/workspace-conformance/src/index.ts'
import { SCHEMA_VERSION } from '../../packages/store-sql/src/schema.ts'
import { read } from '../repository.ts'
import { changelog } from './changelog.ts'
import { chunkTable } from './tables/chunk-table.ts'
import { errorCodeTable, errorTable } from './tables/error-tables.ts'
import { fleetAlertTable, fleetApiTable, fleetPolicyTable } from './tables/fleet-tables.ts'
import { logMessageTable, otherLogTable } from './tables/log-tables.ts'
import { alertRules, metricTable } from './tables/metric-tables.ts'
import {
  packageMap,
  packageTable,
  providerAnswers,
  providerChoices,
} from './tables/package-tables.ts'
import { publication } from './publication.ts'
import { offeredProviders, offersWithEngines } from './offered-providers.ts'
import { interfaceFields, keyComments } from './source-text.ts'
import { code, table } from './table.ts'

export type Section = (...args: readonly string[]) => string

export const sections: Readonly<Record<string, Section>> = {
  tools: (name) => toolTable(moduleName(name)),
  defaults: (name) => defaultsTable(moduleName(name)),
  errors: errorTable,
  'error-codes': errorCodeTable,
  changelog,
  chunks: chunkTable,
  'log-messages': logMessageTable,
  'other-logs': otherLogTable,
  metrics: metricTable,
  'alert-rules': alertRules,
  providers: providerTable,
  versions: versionTable,
  packages: packageTable,
  'package-map': packageMap,
  'provider-choices': providerChoices,
  'provider-answers': providerAnswers,
  knobs: (file = '', name = '') => fieldTable('option', file, name),
  fields: (file = '', name = '') => fieldTable('field', file, name),
  behaviours: behaviourList,
  'fleet-api': fleetApiTable,
  'fleet-policy': fleetPolicyTable,
  'fleet-alerts': fleetAlertTable,
  publication: () => publication(),
  example: (path = '') => `\`\`\`ts\n${read(`examples/${path}`)}\`\`\``,
}

const modules = allModules()
const everything = Object.fromEntries(allCapabilityFlags().map((flag) => [flag, true]))

function moduleName(name = ''): ModuleName {
  if (name in workspaceModules) return name as ModuleName
  throw new Error(`no module ${name}`)
}

type Tool = ModuleTool<never, never>

interface SchemaProperties {
  readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>
  readonly required?: readonly string[]
}

function toolTable(name: ModuleName): string {
  const { configSchema, tools } = workspaceModules[name]
  const defaults = configSchema.parse({}) as never
  const isDefault = (tool: Tool): boolean => tool.available(defaults, everything)
  // Of two forms of a tool, such as `run`, the one that no policy asks for.
  const forms = Map.groupBy(tools as readonly Tool[], (tool) => tool.name)
  const rows = [...forms.values()].flatMap((all) => {
    const tool = all.find(isDefault) ?? all[0]
    if (tool === undefined) return []
    const { description } = tool
    const text = typeof description === 'string' ? description : description(defaults)
    return [
      [
        code(`${tool.name}(${parameters(tool.inputSchema)})`),
        firstSentence(text).replaceAll('*', String.raw`\*`),
        effectOf(tool.annotations),
        isDefault(tool) ? 'always' : 'on request',
      ],
    ]
  })
  return table(['tool', 'does', 'effect', 'injected'], rows)
}

function effectOf({ readOnly, destructive, idempotent }: ToolAnnotations): string {
  if (readOnly) return 'reads'
  const effect = destructive ? 'may destroy' : 'changes'
  return idempotent ? `${effect}, repeatable` : effect
}

function parameters(schema: z.ZodType): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: 'input',
  }) as SchemaProperties
  return Object.keys(properties)
    .map((key) => (required.includes(key) ? key : `${key}?`))
    .join(', ')
}

function firstSentence(text: string): string {
  const [sentence = text] = text.replaceAll(/\s+/g, ' ').split(/(?<=\.) /)
  return sentence
}

function defaultsTable(name: ModuleName): string {
  const { properties = {} } = z.toJSONSchema(workspaceModules[name].configSchema, {
    io: 'input',
  }) as SchemaProperties
  const comments = keyComments(`packages/core/src/modules/${name}/config.ts`)
  const rows = Object.entries(properties).map(([key, property]) => [
    code(key),
    property.default === undefined ? '' : code(JSON.stringify(property.default)),
    comments.get(key) ?? '',
  ])
  return table(['key', 'default', 'meaning'], rows)
}

/** The versions of what outlives a release. */
function versionTable(): string {
  const refs = offeredProviders.map(({ providerId, refSchemaVersion }) => [
    `refs of ${code(providerId)}`,
    String(refSchemaVersion),
  ])
  return table(['stored', 'version'], [['database', String(SCHEMA_VERSION)], ...refs])
}

function providerTable(): string {
  const rows = offeredProviders.map((provider) => {
    const more = offersWithEngines(provider)
    const offered = (name: ModuleName): string =>
      provider.capabilities[name] ? 'yes' : more[name] ? 'with an engine' : ''
    const cells = modules.map(({ name }) => offered(name))
    return [code(provider.providerId), ...cells, String(provider.refSchemaVersion)]
  })
  return table(['kind', ...modules.map(({ name }) => name), 'ref version'], rows)
}

/** Every clause of the conformance kit, by the part of the contract that it is about. */
function behaviourList(): string {
  const groups = Map.groupBy(workspaceBehaviours, ({ id }) => id.slice(0, id.lastIndexOf('/')))
  const rows = [...groups].map(([group, behaviours]) => [
    code(group),
    [...new Set(behaviours.flatMap((one) => one.needs ?? []))].join(', '),
    behaviours.map(({ id }) => id.slice(group.length + 1).replaceAll('-', ' ')).join('; '),
  ])
  return table(['part', 'needs', 'clauses'], rows)
}

/** One row a member of an interface. */
function fieldTable(title: string, file: string, name: string): string {
  const rows = interfaceFields(file, name).map((field) => [
    code(field.name),
    code(field.type),
    field.says,
  ])
  return table([title, 'type', 'meaning'], rows)
}
