/** Where a driver keeps its own files in a container, and which directory it guards. */
export interface ContainerSettings {
  /** The directory of the workspace: links below it may not lead out of it. */
  readonly root: string
  /** Outside the workspace: epoch, captured outputs, records of processes. */
  readonly scratch: string
}

/** Outlives a clean-up of the usual temporary directory; lost with the disk of the container. */
export const DEFAULT_SCRATCH = '/var/tmp/.helix'

/** Name of the variable by which a process says which command it belongs to. */
export const MARKER_VARIABLE = 'HELIX_WS_PROCESS'
