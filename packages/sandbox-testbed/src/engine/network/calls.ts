/** A call that the Worker makes. */
export interface RemoteCall {
  /** Number that the answer will have. */
  readonly id: number
  /** Dotted name, `commands.execute`. */
  readonly method: string
}

/** Messages that take the next number: calls, writes to a stream, streams. */
const NUMBERED = /^\["(?:push|stream|pipe)"/
const ANSWER = /^\["(?:resolve|reject)",(?<id>\d+),/
/** Enough of a message to see what it is. */
const HEAD_BYTES = 32

/**
 * Follows the calls of one RPC connection: the Worker's expressions are numbered from 1 on both
 * sides, and the container answers by number.
 */
export class CallFollower {
  #numbered = 0

  /** Reads a message of the Worker; undefined when it is no call. */
  fromWorker(message: Buffer): RemoteCall | undefined {
    if (!NUMBERED.test(headOf(message))) return undefined
    const id = ++this.#numbered
    const method = methodOf(message)
    return method === undefined ? undefined : { id, method }
  }

  /** Reads a message of the container; the number of the call that it answers. */
  answeredBy(message: Buffer): number | undefined {
    const id = ANSWER.exec(headOf(message))?.groups?.id
    return id === undefined ? undefined : Number(id)
  }
}

const CALL = /^\["push",\["pipeline",-?\d+,\[(?<path>(?:"[\w$]+",?)+)\],/

/** A property read is the same but for the arguments that follow the path. */
function methodOf(message: Buffer): string | undefined {
  const path = CALL.exec(message.toString('latin1', 0, 512))?.groups?.path
  return path?.replaceAll('"', '').replaceAll(',', '.')
}

function headOf(message: Buffer): string {
  return message.toString('latin1', 0, HEAD_BYTES)
}
