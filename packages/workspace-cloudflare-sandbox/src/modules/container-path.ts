import { INTERNAL_DIRECTORY, isWithin } from '@helix-agents/core/provider'
import { WORKSPACE_ROOT } from '../config.ts'

/** Where whole outputs are stored that are too long to return. */
export const SPILL_DIRECTORY = toContainerPath(`${INTERNAL_DIRECTORY}/output`)

/** A normalised path of the workspace as the container knows it. */
export function toContainerPath(path: string): string {
  return path === '/' ? WORKSPACE_ROOT : WORKSPACE_ROOT + path
}

/** The path in the workspace; undefined for what lies elsewhere in the container. */
export function toWorkspacePath(containerPath: string): string | undefined {
  if (!isWithin(containerPath, WORKSPACE_ROOT)) return undefined
  return containerPath === WORKSPACE_ROOT ? '/' : containerPath.slice(WORKSPACE_ROOT.length)
}
