import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSandboxTestbed, type SandboxTestbed } from '../../src/index.ts'
import { execute, reasonToSkip, WORKER } from '../fixture/call.ts'

const skip = await reasonToSkip()

/** Asks a port for a container server, straight and through a tunnel; prints what it found. */
const ATTACK = `
  const { connect } = require('node:net')
  const get = 'GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'
  const tunnel = 'CONNECT 127.0.0.1:3000 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'
  const ask = (port, first, then) => new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const end = () => { socket.destroy(); resolve(text) }
    socket.setTimeout(3000, end)
    socket.on('connect', () => socket.write(first))
    socket.on('data', (data) => {
      text += data
      if (then && text.startsWith('HTTP/1.1 200')) { socket.write(then); then = '' }
    })
    socket.on('close', end).on('error', end)
  })
  const found = process.argv.slice(1).map(async (port) => {
    const answers = [await ask(port, get), await ask(port, tunnel, get)]
    return answers.some((text) => text.endsWith('ready\\n'))
  })
  Promise.all(found).then((list) => console.log(list.filter(Boolean).length))`

describe.skipIf(skip)('a hostile sandbox', () => {
  let testbed: SandboxTestbed
  beforeAll(async () => {
    testbed = await startSandboxTestbed({ worker: WORKER })
  }, 120_000)
  afterAll(() => testbed?.stop())

  it('reaches no other container server, though the network is shared', async () => {
    await execute(testbed, 'victim', 'true')
    await execute(testbed, 'hostile', 'true')
    const ports = listeningPorts()
    expect(ports.length).toBeGreaterThan(0)
    const script = ATTACK.replaceAll("'", String.raw`'\''`)
    const { value } = await execute(testbed, 'hostile', `node -e '${script}' ${ports.join(' ')}`)
    expect(value).toMatchObject({ stdout: '0\n', stderr: '', exitCode: 0 })
  })
})

/** Ports on the loopback that this process and those below it listen on, but for the Worker's. */
function listeningPorts(): number[] {
  const inodes = new Set(processesBelow(process.pid).flatMap(socketsOf))
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  return lines.flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const isListening = fields[3] === '0A' && inodes.has(fields[9] ?? '')
    return isListening ? [Number.parseInt(fields[1]?.split(':')[1] ?? '', 16)] : []
  })
}

function processesBelow(pid: number): string[] {
  const children = whileThere(() => readdirSync(`/proc/${pid}/task`)).flatMap((task) =>
    whileThere(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ')),
  )
  const known = children.filter((child) => child !== '' && !isWorkerd(child))
  return [String(pid), ...known.flatMap((child) => processesBelow(Number(child)))]
}

function isWorkerd(pid: string): boolean {
  const [name = ''] = whileThere(() => [readFileSync(`/proc/${pid}/comm`, 'utf8')])
  return name.startsWith('workerd')
}

function socketsOf(pid: string): string[] {
  return whileThere(() => readdirSync(`/proc/${pid}/fd`)).flatMap((fd) =>
    whileThere(() => {
      const link = readlinkSync(`/proc/${pid}/fd/${fd}`)
      return /^socket:\[(?<inode>\d+)\]$/.exec(link)?.[1] ?? []
    }),
  )
}

/** Processes end and files are closed while they are looked at. */
function whileThere(look: () => string | readonly string[]): readonly string[] {
  try {
    return [look()].flat()
  } catch {
    return []
  }
}
