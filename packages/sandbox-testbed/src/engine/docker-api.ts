import { constants } from 'node:os'
import type { IncomingMessage } from 'node:http'
import type { Container } from './container/container.ts'
import type { ContainerStore } from './container/container-store.ts'
import { type Answer, DONE, failure, readJson } from './http-answer.ts'

/** One request to the engine, taken apart. */
export interface Call {
  readonly store: ContainerStore
  readonly reference: string
  readonly query: URLSearchParams
  readonly request: IncomingMessage
}

type Handler = (call: Call) => Answer | Promise<Answer>
type Route = readonly [method: string, path: RegExp, handler: Handler]

const SIDECAR_PORT = '39001/tcp'
const NETWORK = {
  Name: 'bridge',
  IPAM: { Config: [{ Subnet: '127.0.0.0/8', Gateway: '127.0.0.1' }] },
}
const LEAVING = failure(503, 'the engine is shutting down')
const ROUTES: readonly Route[] = [
  ['HEAD', /^\/_ping$/, () => ({ status: 200 })],
  ['GET', /^\/_ping$/, () => ({ status: 200, body: 'OK' })],
  ['GET', /^\/version$/, () => ({ status: 200, body: { ApiVersion: '1.44', Os: 'linux' } })],
  ['GET', /^\/info$/, () => ({ status: 200, body: { OSType: 'linux', SecurityOptions: [] } })],
  ['GET', /^\/volumes$/, () => ({ status: 200, body: { Volumes: [], Warnings: [] } })],
  ['GET', /^\/networks\/(?<reference>[^/]+)$/, () => ({ status: 200, body: NETWORK })],
  ['GET', /^\/images\/(?<reference>.+)\/json$/, describeImage],
  ['POST', /^\/images\/create$/, () => ({ status: 200, body: '{}' })],
  ['GET', /^\/containers\/json$/, listContainers],
  ['POST', /^\/containers\/create$/, create],
  ['GET', /^\/containers\/(?<reference>[^/]+)\/json$/, inspect],
  ['POST', /^\/containers\/(?<reference>[^/]+)\/start$/, start],
  ['POST', /^\/containers\/(?<reference>[^/]+)\/wait$/, wait],
  ['POST', /^\/containers\/(?<reference>[^/]+)\/kill$/, kill],
  ['DELETE', /^\/containers\/(?<reference>[^/]+)$/, remove],
]

/** Answers one request of the Docker Engine API, with or without a version in the path. */
export async function answerCall(store: ContainerStore, request: IncomingMessage): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://engine')
  const path = url.pathname.replace(/^\/v\d+\.\d+/, '')
  for (const [method, pattern, handler] of ROUTES) {
    const match = request.method === method ? pattern.exec(path) : null
    if (match === null) continue
    const reference = decodeURIComponent(match.groups?.reference ?? '')
    return handler({ store, reference, query: url.searchParams, request })
  }
  return failure(404, `no such route: ${request.method} ${path}`)
}

function describeImage({ reference }: Call): Answer {
  return {
    status: 200,
    body: { Id: `sha256:${'0'.repeat(64)}`, RepoTags: [reference], Config: {} },
  }
}

function listContainers({ store }: Call): Answer {
  const running = [...store.containers.values()].filter(({ state }) => state === 'running')
  return {
    status: 200,
    body: running.map(({ id, name }) => ({ Id: id, Names: [`/${name}`], State: 'running' })),
  }
}

async function create({ store, query, request }: Call): Promise<Answer> {
  const name = query.get('name') ?? ''
  const body = await readJson(request)
  if (store.closed) return LEAVING
  if (store.containers.has(name) || store.sidecars.has(name)) {
    return failure(409, `Conflict. The container name "/${name}" is already in use`)
  }
  if (store.isSidecarName(name)) return created(store.createSidecar(name).id)
  return created(store.create(name, environmentOf(body)).id)
}

function created(id: string): Answer {
  return { status: 201, body: { Id: id, Warnings: [] } }
}

function environmentOf(body: unknown): string[] {
  if (typeof body !== 'object' || body === null || !('Env' in body)) return []
  return Array.isArray(body.Env) ? body.Env.map(String) : []
}

function inspect({ store, reference }: Call): Answer {
  const sidecar = store.findSidecar(reference)
  if (sidecar !== undefined) return { status: 200, body: describeSidecar(sidecar) }
  const container = store.find(reference)
  if (container === undefined) return missing(reference)
  return { status: 200, body: describeContainer(container) }
}

function describeSidecar({ id, port }: { readonly id: string; readonly port?: number }): unknown {
  const bindings = port === undefined ? [] : [{ HostIp: '127.0.0.1', HostPort: String(port) }]
  return {
    Id: id,
    State: { Status: port === undefined ? 'created' : 'running', Running: port !== undefined },
    NetworkSettings: { Ports: { [SIDECAR_PORT]: bindings } },
  }
}

function describeContainer({ id, name, state, exitCode, pid }: Container): unknown {
  return {
    Id: id,
    Name: `/${name}`,
    State: { Status: state, Running: state === 'running', ExitCode: exitCode, Pid: pid ?? 0 },
    NetworkSettings: { Ports: {} },
  }
}

async function start({ store, reference }: Call): Promise<Answer> {
  if (store.closed) return LEAVING
  const sidecar = store.findSidecar(reference)
  if (sidecar !== undefined) {
    sidecar.port = await sidecar.sidecar.start()
    return DONE
  }
  const container = store.find(reference)
  if (container === undefined) return missing(reference)
  if (store.isLeaving(container)) return failure(409, 'container is marked for removal')
  if (container.state === 'running') return { status: 304 }
  store.start(container)
  return DONE
}

async function wait({ store, reference, query }: Call): Promise<Answer> {
  const container = store.find(reference)
  if (container === undefined) return missing(reference)
  // Rejected at the start: the monitor of workerd reports it, and the container never was.
  if (container.refusal !== undefined) {
    await store.remove(container)
    return failure(500, container.refusal)
  }
  const exitCode = await container.exited
  if (query.get('condition') === 'removed') await container.removed
  return { status: 200, body: { StatusCode: exitCode } }
}

function kill({ store, reference, query }: Call): Answer {
  const container = store.find(reference)
  if (container === undefined) return missing(reference)
  if (rejects(container, store, 'kill')) return failure(500, 'cannot kill container: refused')
  if (container.state !== 'running') return failure(409, `container ${reference} is not running`)
  const signal = signalOf(query.get('signal') ?? 'SIGKILL')
  if (signal === undefined) return failure(400, 'invalid signal')
  container.signal(signal)
  return DONE
}

async function remove({ store, reference }: Call): Promise<Answer> {
  if (store.findSidecar(reference) !== undefined) {
    await store.removeSidecar(reference)
    return DONE
  }
  const container = store.find(reference)
  if (container === undefined) return missing(reference)
  if (rejects(container, store, 'delete')) return failure(500, 'cannot remove container: refused')
  await store.remove(container)
  return DONE
}

function rejects({ name }: Container, store: ContainerStore, step: 'kill' | 'delete'): boolean {
  const isMeant = (fault: { readonly step: string }): boolean =>
    fault.step === step || fault.step === 'both'
  return store.settings.faults.take('rejected-destroy', name, isMeant) !== undefined
}

function missing(reference: string): Answer {
  return failure(404, `No such container: ${reference}`)
}

/** `9`, `KILL` and `SIGKILL` are the same. */
function signalOf(text: string): NodeJS.Signals | undefined {
  const wanted = text.startsWith('SIG') ? text : `SIG${text}`
  const entries = Object.entries(constants.signals)
  const found = entries.find(([name, number]) => name === wanted || String(number) === text)
  return found === undefined ? undefined : isSignal(found[0]) ? found[0] : undefined
}

function isSignal(name: string): name is NodeJS.Signals {
  return name in constants.signals
}
