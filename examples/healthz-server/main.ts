// Plays the story of README.md: a server that is stopped in the middle of a run, and a second one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { playStory } from './story.ts'

if (import.meta.main) await run()

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'helix-healthz-'))
  try {
    await playStory(folder, (line) => console.log(line))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
