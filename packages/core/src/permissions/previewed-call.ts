import type { CheckedCall } from './decide-call.ts'

/** Bounds of a preview. */
export interface PreviewLimits {
  /** Default: 20,000. */
  readonly bodyCharacters?: number
  /** Default: 200. */
  readonly titleCharacters?: number
  /** Time in milliseconds after which the arguments are shown in its place. Default: 10,000. */
  readonly timeMs?: number
}

/** A call that a person is asked about. */
export interface PreviewedCall extends CheckedCall {
  /** The exact JSON text of its arguments. */
  readonly args: string
}
