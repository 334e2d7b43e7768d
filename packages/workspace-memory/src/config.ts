import { WorkspaceFailedError } from '@helix-agents/core'
import * as z from 'zod'

/** Kind of the provider in a declaration, and its id. */
export const IN_MEMORY_KIND = 'in-memory'

export const inMemoryConfigSchema = z.strictObject({
  kind: z.literal(IN_MEMORY_KIND),
  /** All files of the workspace together, in megabytes of 1,048,576 bytes. */
  maxTotalMb: z.number().positive().optional(),
})

/** What an agent declares under `provider`. */
export type InMemoryWorkspaceConfig = Readonly<z.output<typeof inMemoryConfigSchema>>

/** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field. */
export function parseInMemoryConfig(config: unknown): InMemoryWorkspaceConfig {
  const parsed = inMemoryConfigSchema.safeParse(config)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'provider'}: ${issue.message}`,
  )
  throw new WorkspaceFailedError('config-invalid', `${IN_MEMORY_KIND}: ${problems.join('; ')}`, {
    cause: parsed.error,
  })
}
