import { hostname, tmpdir } from 'node:os'
import * as z from 'zod'

const number = z.coerce.number().int().min(1)

/** The variables that web front and workers read; README.md has them as a table. */
const settingsSchema = z
  .object({
    DATABASE_URL: z.string().min(1),
    MACHINE: z.string().min(1).default(hostname()),
    FILES: z.string().min(1).default(tmpdir()),
    HOST: z.string().min(1).default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(8787),
    LEASE_MS: number.default(15_000),
    CONCURRENCY: number.default(8),
    TURNS_PER_TENANT: number.default(8),
  })
  .transform((variables) => ({
    databaseUrl: variables.DATABASE_URL,
    machine: variables.MACHINE,
    files: variables.FILES,
    host: variables.HOST,
    port: variables.PORT,
    leaseMs: variables.LEASE_MS,
    concurrency: variables.CONCURRENCY,
    turnsPerTenant: variables.TURNS_PER_TENANT,
  }))

/** @throws {Error} that names each variable that cannot be used. */
export function readSettings(env: Readonly<Record<string, string | undefined>>) {
  const result = settingsSchema.safeParse(env)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new Error(`the environment is not right: ${problems.join('; ')}`)
}
