import type { RawData, WebSocket } from 'ws'
import type { ArmedFault } from '../../faults/fault-set.ts'
import { CallFollower } from './calls.ts'
import type { Direction, Network } from './network.ts'

const HIGH_WATER_BYTES = 1024 * 1024
/** Codes that only a missing close frame may report; they cannot be sent. */
const UNSENDABLE = new Set([1005, 1006, 1015])

/** What to do with a message. */
export type Verdict = 'pass' | 'cut' | 'pass-then-cut'

/** Two ends of a connection between the SDK and the container server. */
export interface MessageLink {
  readonly worker: WebSocket
  readonly container: WebSocket
  readonly network: Network
}

/** Relays messages both ways until one end closes; a fault may cut the connection. */
export function relayMessages({ worker, container, network }: MessageLink): void {
  const calls = new CallFollower()
  const unanswered = new Map<number, ArmedFault<'lost-reply'>>()
  const cut = (): void => {
    worker.terminate()
    container.terminate()
  }
  const toContainer = (message: Buffer): Verdict => {
    const call = calls.fromWorker(message)
    if (call === undefined) return 'pass'
    const lost = network.losesReply(call.method)
    if (lost !== undefined) unanswered.set(call.id, lost)
    return network.interrupts(call.method)
  }
  const toWorker = (message: Buffer): Verdict => {
    const id = unanswered.size === 0 ? undefined : calls.answeredBy(message)
    const lost = id === undefined ? undefined : unanswered.get(id)
    if (id !== undefined) unanswered.delete(id)
    return lost?.strike() === true ? 'cut' : 'pass'
  }
  const link = { network, cut }
  relay({ ...link, from: worker, to: container, direction: 'to-container', judge: toContainer })
  relay({ ...link, from: container, to: worker, direction: 'from-container', judge: toWorker })
  container.resume()
}

interface Lane {
  readonly from: WebSocket
  readonly to: WebSocket
  readonly direction: Direction
  readonly network: Network
  readonly judge: (message: Buffer) => Verdict
  readonly cut: () => void
}

function sizeOf(data: RawData): number {
  if (!Array.isArray(data)) return data.byteLength
  return data.reduce((sum, each) => sum + each.byteLength, 0)
}

function relay({ from, to, direction, network, judge, cut }: Lane): void {
  const send = (data: RawData, isBinary: boolean): void => {
    const verdict = Buffer.isBuffer(data) && !isBinary ? judge(data) : 'pass'
    if (verdict === 'cut' || network.cutsOff(direction, sizeOf(data))) return cut()
    to.send(data, { binary: isBinary }, () => {
      if (verdict === 'pass-then-cut') cut()
      else if (from.isPaused && to.bufferedAmount < HIGH_WATER_BYTES) from.resume()
    })
    if (to.bufferedAmount >= HIGH_WATER_BYTES) from.pause()
  }
  from.on('message', (data: RawData, isBinary: boolean) => {
    network.deliver(direction, () => send(data, isBinary))
  })
  from.on('close', (code: number, reason: Buffer) => {
    network.deliver(direction, () => {
      if (UNSENDABLE.has(code)) to.terminate()
      else to.close(code, reason)
    })
  })
  from.on('error', () => to.terminate())
}
