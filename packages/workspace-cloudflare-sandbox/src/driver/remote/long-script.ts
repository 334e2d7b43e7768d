import { quoteWord } from '@helix-agents/core/provider'
import type { ContainerLink } from './container-link.ts'
import type { ScriptCall, ScriptOutput } from './script-runner.ts'

/** A word of a command line may have 128 KiB: longer scripts go to a file first. */
const SCRIPT_BYTES = 120_000
const STORE = { deadlineMs: 30_000, isRepeatable: true }
const SWEEP = { deadlineMs: 10_000, isRepeatable: true }

/**
 * Runs a script of any length. The file of a long one removes itself: bash has it open by then.
 * @param name Of that file, unlike any other.
 */
export async function runOfAnyLength(
  { runner, settings }: ContainerLink,
  name: string,
  script: string,
  call: ScriptCall,
): Promise<ScriptOutput> {
  const bytes = new TextEncoder().encode(script)
  if (bytes.length <= SCRIPT_BYTES) return runner.run(script, call)
  const path = `${settings.scratch}/${name}.sh`
  const remove = `rm -f -- ${quoteWord(path)}`
  try {
    await runner.store(path, new TextEncoder().encode(`${remove}\n${script}`), STORE)
    return await runner.run(`exec bash --noprofile --norc -- ${quoteWord(path)}`, call)
  } catch (error) {
    await Promise.allSettled([runner.run(remove, SWEEP)])
    throw error
  }
}
