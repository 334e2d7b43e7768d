import { join } from 'node:path'
import * as z from 'zod'

const loopback = new Set(['127.0.0.1', '::1', 'localhost'])
const milliseconds = z.coerce.number().int().min(1)

/** The variables that the server reads; README.md has them as a table. */
const settingsSchema = z
  .object({
    HOST: z.string().min(1).default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(8787),
    HELIX_TOKEN: z.string().min(16).optional(),
    HELIX_FOLDER: z
      .string()
      .min(1)
      .default(join(import.meta.dirname, '.data')),
    HELIX_LEASE_MS: milliseconds.default(15_000),
    HELIX_SHUTDOWN_MS: milliseconds.default(10_000),
  })
  .refine(({ HOST, HELIX_TOKEN }) => HELIX_TOKEN !== undefined || loopback.has(HOST), {
    path: ['HELIX_TOKEN'],
    message: 'is required when HOST can be reached by others',
  })
  .transform((variables) => ({
    host: variables.HOST,
    port: variables.PORT,
    token: variables.HELIX_TOKEN,
    folder: variables.HELIX_FOLDER,
    leaseMs: variables.HELIX_LEASE_MS,
    shutdownMs: variables.HELIX_SHUTDOWN_MS,
  }))

export type Settings = Readonly<z.output<typeof settingsSchema>>

/** @throws {Error} that names each variable that cannot be used. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const result = settingsSchema.safeParse(env)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new Error(`the environment is not right: ${problems.join('; ')}`)
}
