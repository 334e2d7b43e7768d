import { HelixError } from '@helix-agents/core'
import { ConformanceError } from '@helix-agents/workspace-conformance'

/** Whether a behaviour said no, rather than tripping over a broken test. */
export function isVerdict(error: unknown): boolean {
  return error instanceof ConformanceError || HelixError.isInstance(error)
}
