import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { buildChild } from './child-process.ts'
import { CrashLab } from './crash-lab.ts'

export type OpenLab = <T>(
  session: { readonly sessionId: string; readonly steps: number },
  work: (lab: CrashLab) => Promise<T>,
) => Promise<T>

/** The child program for the tests of a file; each test works in a lab of its own. */
export function withChild(): OpenLab {
  const directory = mkdtempSync(join(tmpdir(), 'helix-crash-child-'))
  let childFile = ''
  beforeAll(async () => {
    childFile = await buildChild(directory)
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return async ({ sessionId, steps }, work) => {
    const lab = new CrashLab(childFile, sessionId, steps)
    try {
      return await work(lab)
    } finally {
      await lab.remove()
    }
  }
}
