// Writes the generated sections of the docs: `pnpm docs:gen`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { derivePages } from './docs/pages.ts'
import { root } from './repository.ts'

for (const { file, current, derived } of derivePages()) {
  if (current === derived) continue
  writeFileSync(join(root, file), derived)
  console.log(`wrote ${file}`)
}
