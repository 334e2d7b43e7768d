// Stands between a store and a server, and writes down which statements travel together.
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const SOCKET = '.s.PGSQL.5432'
const LENGTH_BYTES = 4
const QUERY = 'Q'
const PARSE = 'P'
const BIND = 'B'
const SYNC = 'S'
/** The server has answered everything up to a `Q` or an `S`. */
const READY = 'Z'

/** Statements that a client sent before it waited for an answer: one round trip. */
export type RoundTrip = readonly string[]

/** The round trips of all connections that go through it, in the order in which they begin. */
export class WireLog {
  /** The same database through the log. */
  readonly url: string
  #roundTrips: string[][] = []
  readonly #directory = mkdtempSync(join(tmpdir(), 'helix-pg-wire-'))
  readonly #sockets = new Set<Socket>()

  private constructor(url: string) {
    this.url = url.replace(new URL(url).host, encodeURIComponent(this.#directory))
  }

  /** A log that is closed after the test. */
  static async open(url: string): Promise<WireLog> {
    const log = new WireLog(url)
    const target = join(decodeURIComponent(new URL(url).host), SOCKET)
    const server = createServer((client) => log.#serve(client, connect(target)))
    onTestFinished(() => {
      for (const socket of log.#sockets) socket.destroy()
      server.close()
      rmSync(log.#directory, { recursive: true, force: true })
    })
    await new Promise<void>((resolve) => server.listen(join(log.#directory, SOCKET), resolve))
    return log
  }

  /** What was sent since the last call. */
  take(): readonly RoundTrip[] {
    const taken = this.#roundTrips
    this.#roundTrips = []
    return taken
  }

  #serve(client: Socket, server: Socket): void {
    const names = new Map<string, string>()
    let awaited = 0
    let roundTrip: string[] = []
    const onSent = messagesOf({ hasStartup: true }, (type, body) => {
      if (type === QUERY || type === SYNC) awaited++
      const statement = statementOf(type, body, names)
      if (statement === undefined) return
      if (roundTrip.length === 0) this.#roundTrips.push(roundTrip)
      roundTrip.push(...statement)
    })
    const onAnswer = messagesOf({ hasStartup: false }, (type) => {
      if (type !== READY) return
      awaited = Math.max(0, awaited - 1)
      if (awaited === 0) roundTrip = []
    })
    pass(client, server, onSent)
    pass(server, client, onAnswer)
    for (const socket of [client, server]) this.#sockets.add(socket)
  }
}

/** An end of one side ends the other. */
function pass(from: Socket, to: Socket, look: (data: Buffer) => void): void {
  from.on('data', (data) => {
    look(data)
    to.write(data)
  })
  from.on('error', () => to.destroy())
  from.on('close', () => to.end())
}

/** What one message asks for; a prepared statement is known by its name from then on. */
function statementOf(
  type: string,
  body: Buffer,
  names: Map<string, string>,
): readonly string[] | undefined {
  const [first = '', second = ''] = body.toString('utf8').split('\0')
  if (type === QUERY) return first.split('; ').map(titleOf)
  if (type === PARSE) names.set(first, second)
  return type === BIND ? [titleOf(names.get(second) ?? second)] : undefined
}

/** Its verb, and its table, function or setting. */
function titleOf(statement: string): string {
  const verb = /^\w+/.exec(statement)?.[0] ?? statement
  const name = /\b(?:helix_\w+|pg_notify|pg_current_xact_id|\w+_timeout)\b/.exec(statement)?.[0]
  return name === undefined ? verb : `${verb} ${name}`
}

/** Cuts what one side sends into messages. The first message of a client has no type. */
function messagesOf(
  { hasStartup }: { readonly hasStartup: boolean },
  onMessage: (type: string, body: Buffer) => void,
): (data: Buffer) => void {
  let held = Buffer.alloc(0)
  let typeBytes = hasStartup ? 0 : 1
  return (data) => {
    held = Buffer.concat([held, data])
    while (held.length >= typeBytes + LENGTH_BYTES) {
      const end = typeBytes + held.readUInt32BE(typeBytes)
      if (held.length < end) return
      const body = held.subarray(typeBytes + LENGTH_BYTES, end)
      if (typeBytes === 1) onMessage(held.toString('latin1', 0, 1), body)
      held = held.subarray(end)
      typeBytes = 1
    }
  }
}
