import { WorkspaceFailedError } from '@helix-agents/core'
import * as z from 'zod'

/** Kind of the provider in a declaration, and its id. */
export const FILE_STORE_KIND = 'cloudflare-filestore'

/** Longest explicit namespace, in characters. */
export const MAX_NAMESPACE_LENGTH = 256

const configSchema = z
  .strictObject({
    kind: z.literal(FILE_STORE_KIND),
    /**
     * Files that several sessions of the same Durable Object share. Default: files of this
     * session and this workspace alone.
     */
    namespace: z.string().min(1).max(MAX_NAMESPACE_LENGTH).exactOptional(),
    /** Required next to `namespace`, so that files are not shared by accident. */
    shareAcrossSessions: z.boolean().exactOptional(),
  })
  .refine((config) => !config.shareAcrossSessions || config.namespace !== undefined, {
    path: ['shareAcrossSessions'],
    message: 'needs a namespace to share',
  })

/** What an agent declares under `provider`. */
export type CloudflareFileStoreConfig = Readonly<z.output<typeof configSchema>>

/** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field. */
export function parseFileStoreConfig(config: unknown): CloudflareFileStoreConfig {
  const parsed = configSchema.safeParse(config)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'provider'}: ${issue.message}`,
  )
  throw new WorkspaceFailedError('config-invalid', `${FILE_STORE_KIND}: ${problems.join('; ')}`, {
    cause: parsed.error,
  })
}
