// Writes the generated sections and pages of the docs: `pnpm docs:gen`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { derivePages } from './docs/pages.ts'
import { root } from './repository.ts'

for (const { file, current, derived } of derivePages()) {
  if (current === derived) continue
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), derived)
  console.log(`wrote ${file}`)
}
