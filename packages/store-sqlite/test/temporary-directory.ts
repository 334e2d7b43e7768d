import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of the test, gone after it. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'helix-sqlite-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
