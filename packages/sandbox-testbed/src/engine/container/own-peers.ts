import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { endianness } from 'node:os'
import { isWorkerdChild, workerdChildren } from '../../worker/workerd-children.ts'

/** Whether the other end of an accepted connection is one of ours. */
export type PeerTest = (socket: Socket) => boolean

const LOOPBACK = '127.0.0.1'
/** As the kernel prints it. */
const LOOPBACK_BYTES = endianness() === 'LE' ? '0100007F' : '7F000001'
const ADDRESS = 1
const PEER = 2
const INODE = 9

/**
 * Makes the test that keeps containers out, who share the loopback: a connection must have been
 * made by this process or by a workerd that it started. Where the kernel does not say whose a
 * connection is, everybody passes.
 */
export async function createPeerTest(): Promise<PeerTest> {
  const server = createServer().listen(0, LOOPBACK)
  await once(server, 'listening')
  const address = server.address()
  const port = address === null || typeof address === 'string' ? 0 : address.port
  const client = connect(port, LOOPBACK)
  const [accepted]: Socket[] = await once(server, 'connection')
  const isTold = accepted !== undefined && isOwnPeer(accepted)
  client.destroy()
  accepted?.destroy()
  server.close()
  return isTold ? isOwnPeer : () => true
}

/** The workerd processes that connected before: all processes are read only for a new one. */
let known: readonly string[] = []

function isOwnPeer({ remoteAddress, remotePort = 0, localPort = 0 }: Socket): boolean {
  const inode = remoteAddress === LOOPBACK ? inodeOf(remotePort, localPort) : undefined
  if (inode === undefined) return false
  const link = `socket:[${inode}]`
  if (holds(process.pid, link)) return true
  if (known.some((pid) => isWorkerdChild(pid) && holds(pid, link))) return true
  known = workerdChildren()
  return known.some((pid) => holds(pid, link))
}

/** The inode of the socket at one end of a connection on the loopback. */
function inodeOf(from: number, to: number): string | undefined {
  const wanted = `${endOf(from)} ${endOf(to)}`
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
    if (!line.includes(wanted)) continue
    const fields = line.trim().split(/\s+/)
    if (`${fields[ADDRESS]} ${fields[PEER]}` === wanted) return fields[INODE]
  }
  return undefined
}

function endOf(port: number): string {
  return `${LOOPBACK_BYTES}:${port.toString(16).toUpperCase().padStart(4, '0')}`
}

function holds(pid: number | string, link: string): boolean {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((name) => linkAt(`${folder}/${name}`) === link)
  } catch {
    // Ended by now.
    return false
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // Closed by now.
    return undefined
  }
}
