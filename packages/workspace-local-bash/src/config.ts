import { WorkspaceFailedError } from '@helix-agents/core'
import * as z from 'zod'

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name')
const variableValue = z.string().refine((value) => !value.includes('\0'), 'holds a NUL')

/** The variables that a declaration adds to the environment of every command. */
export const envSchema = z.record(variableName, variableValue).readonly()

/** `none`: commands have the files and the network of the host. `bubblewrap`: namespaces of their own. */
export const isolationSchema = z.enum(['none', 'bubblewrap'])

/** A workspace declaration's `provider` for this kind. */
export const localBashConfigSchema = z.strictObject({
  kind: z.literal('local-bash'),
  /** Default: the provider's `isolation` option. */
  isolation: isolationSchema.optional(),
  /** Added to the environment of every command. */
  env: envSchema.optional(),
})

/** The `provider` of a workspace declaration, parsed. */
export type LocalBashConfig = Readonly<z.output<typeof localBashConfigSchema>>
/** How far commands are kept from the host: `none` or `bubblewrap`. */
export type LocalBashIsolation = z.output<typeof isolationSchema>

/** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field. */
export function parseLocalBashConfig(config: unknown): LocalBashConfig {
  const result = localBashConfigSchema.safeParse(config)
  if (result.success) return result.data
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'provider'}: ${message}`,
  )
  throw new WorkspaceFailedError(
    'config-invalid',
    `the local-bash workspace is not declared correctly: ${problems.join('; ')}`,
  )
}
