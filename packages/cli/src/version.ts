import { readFileSync } from 'node:fs'
import * as z from 'zod'

const manifestSchema = z.object({ version: z.string() })

/** Version of this package: its manifest lies above `src` as it does above `dist`. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  return manifestSchema.parse(manifest).version
}
