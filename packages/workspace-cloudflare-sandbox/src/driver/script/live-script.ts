import { assign, sources } from './compose.ts'
import { sayFunction } from './reply.ts'
import type { ContainerSettings } from './settings.ts'

/** Most bytes of each output that one call returns. */
export const LIVE_PIECE_BYTES = 256 * 1024

export interface LivePoll {
  readonly nonce: string
  readonly slot: string
  readonly stdoutOffset: number
  readonly stderrOffset: number
  /** Of what the command writes to descriptor 3. Absent: there is no such descriptor. */
  readonly channelOffset?: number
}

/** The script that waits for new output of a running command and returns the next piece of each. */
export function liveScript({ scratch }: ContainerSettings, poll: LivePoll): string {
  const { nonce, slot, stdoutOffset, stderrOffset, channelOffset } = poll
  const values = { k: `${scratch}/${slot}`, out: stdoutOffset, err: stderrOffset }
  return `exec 2>/dev/null
${assign({ ...values, more: channelOffset, piece: LIVE_PIECE_BYTES })}
${sayFunction(nonce)}
${sources('piece', 'live')}`
}

/** The script that returns a part of a file. */
export function pieceScript(nonce: string, path: string, offset: number): string {
  return `exec 2>/dev/null
${assign({ path, offset, piece: LIVE_PIECE_BYTES })}
${sayFunction(nonce)}
${sources('piece')}piece "$path" "$offset"
say piece
`
}
