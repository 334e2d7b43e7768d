// What the fleet offers, from its OpenAPI document and its schemas.
import {
  alertPolicySchema,
  createFleetApp,
  Fleet,
  fleetPolicySchema,
  MemoryFleetStore,
} from '../../../packages/sandbox-fleet/src/index.ts'
import { keyCommentsOf } from '../source-text.ts'
import { code, table } from '../table.ts'

const METHODS = ['get', 'post', 'delete'] as const

interface Operation {
  readonly summary?: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses?: Readonly<Record<string, unknown>>
}

/** Every route of the HTTP API. */
export function fleetApiTable(): string {
  const fleet = new Fleet({ store: new MemoryFleetStore(), drivers: [], environment: 'docs' })
  const app = createFleetApp({ fleet, adminToken: 'only-to-be-described' })
  const { paths = {} } = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'docs', version: '1' },
  })
  const rows = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Partial<Record<string, Operation>>)[method]
      return operation === undefined ? [] : [rowOf(method, path, operation)]
    }),
  )
  return table(['route', 'does', 'query', 'answers'], rows)
}

function rowOf(method: string, path: string, operation: Operation): string[] {
  const { parameters = [], responses = {}, summary = '' } = operation
  const query = parameters.filter((parameter) => parameter.in === 'query')
  return [
    code(`${method.toUpperCase()} ${path}`),
    summary,
    query.map(({ name }) => code(name)).join(' '),
    Object.keys(responses).join(' '),
  ]
}

/** Every number of the fleet. */
export function fleetPolicyTable(): string {
  return defaults('packages/sandbox-fleet/src/safety/fleet-policy.ts', fleetPolicySchema)
}

/** Every number of its alerts. */
export function fleetAlertTable(): string {
  return defaults('packages/sandbox-fleet/src/alerts/alert.ts', alertPolicySchema)
}

type Policy = typeof fleetPolicySchema | typeof alertPolicySchema

function defaults(file: string, schema: Policy): string {
  const comments = keyCommentsOf(file, /(?<key>\w+): (?:z\b|msSchema|countSchema)/)
  const values: Readonly<Record<string, unknown>> = schema.parse({})
  const rows = Object.keys(schema.shape).map((key) => [
    code(key),
    key in values ? code(toText(key, Number(values[key]))) : '',
    comments.get(key) ?? '',
  ])
  return table(['key', 'default', 'meaning'], rows)
}

function toText(key: string, value: number): string {
  return key.endsWith('Ms') ? value.toLocaleString('en-US').replaceAll(',', '_') : String(value)
}
