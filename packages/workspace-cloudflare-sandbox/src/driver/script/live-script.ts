import { quoteWord } from '@helix-agents/core/provider'
import { sayFunction } from './reply.ts'
import type { ContainerSettings } from './settings.ts'

/** Most bytes of each output that one look returns. */
export const LIVE_PIECE_BYTES = 256 * 1024
/** A look without news ends after so many steps of 20 ms. */
const LOOKS = 250

export interface LiveLook {
  readonly nonce: string
  readonly slot: string
  readonly stdoutOffset: number
  readonly stderrOffset: number
  /** Of what the command writes to descriptor 3. Absent: there is no such descriptor. */
  readonly channelOffset?: number
}

/**
 * The script that waits for new output of a running command and returns the next piece of each.
 * It also tells the command's own script how far the caller has read.
 */
export function liveScript(settings: ContainerSettings, look: LiveLook): string {
  const { nonce, slot, stdoutOffset, stderrOffset, channelOffset } = look
  const hasChannel = channelOffset !== undefined
  return `exec 2>/dev/null
k=${quoteWord(`${settings.scratch}/${slot}`)}
${sayFunction(nonce)}
[[ -e $k.a && ! -f $k.a ]] || echo ${stdoutOffset + stderrOffset} >"$k.a"
for ((i = 0; i < ${LOOKS}; i++)); do
  { read -r o; read -r e; read -r v; } < <(stat -c %s -- "$k.o" "$k.e" ${hasChannel ? '"$k.v"' : ''})
  ((o > ${stdoutOffset} || e > ${stderrOffset} || \${v:-0} > ${channelOffset ?? 0})) && break
  [[ -e $k.d ]] && break
  sleep 0.02
done
${piece('"$k.o"', stdoutOffset)}; echo
${piece('"$k.e"', stderrOffset)}
${hasChannel ? `echo; ${piece('"$k.v"', channelOffset)}` : ''}
say pieces
`
}

/** The script that returns a part of a file. */
export function pieceScript(nonce: string, path: string, offset: number): string {
  return `exec 2>/dev/null
${sayFunction(nonce)}
${piece(quoteWord(path), offset)}
say piece
`
}

function piece(file: string, offset: number): string {
  return `[[ -f ${file} ]] && tail -c +${offset + 1} -- ${file} | head -c ${LIVE_PIECE_BYTES} | base64 -w0`
}
