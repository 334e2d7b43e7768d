import { randomUUID } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { ContainerImages } from '../sandbox-image.ts'
import type { DockerClient } from './docker-client.ts'
import { textAt } from './json-text.ts'

const SIDECAR_PORT = '39001/tcp'
const LABELS = { 'dev.helix-agents.sandbox-testbed': 'probe' }
const SIDECAR_OPTIONS =
  '--http-egress-port 49121 --http-ingress-address 0.0.0.0:39001 --dns-enabled --tls-intercept --disable-ipv6'
const LISTENS_MS = 10_000
const LOOK_MS = 50

/**
 * Runs a sidecar and a container in its network, as workerd does, and removes both.
 *
 * @throws {Error} what the engine cannot do.
 */
export async function tryEngine(client: DockerClient, images: ContainerImages): Promise<void> {
  const subnet = await readBridge(client)
  const name = `helix-testbed-probe-${randomUUID()}`
  try {
    await runSidecar(client, `${name}-proxy`, { image: images.sidecarImage, subnet })
    await runOnce(client, name, images.image)
  } finally {
    for (const container of [name, `${name}-proxy`]) {
      const path = `/containers/${container}?force=true&v=true`
      await client.call('DELETE', path).catch(() => undefined)
    }
  }
}

/** workerd listens at the gateway; a fresh dockerd has none until it starts again. */
async function readBridge(client: DockerClient): Promise<string> {
  const network = await client.call('GET', '/networks/bridge')
  const gateway = textAt(network, ['IPAM', 'Config', 0, 'Gateway'])
  const subnet = textAt(network, ['IPAM', 'Config', 0, 'Subnet'])
  if (gateway && subnet) return subnet
  throw new Error('its network "bridge" has no gateway; restart the engine, or give it --bip')
}

async function runSidecar(
  client: DockerClient,
  name: string,
  { image, subnet }: { readonly image: string; readonly subnet: string },
): Promise<void> {
  await create(client, name, {
    Image: image,
    Cmd: `${SIDECAR_OPTIONS} --docker-gateway-cidr ${subnet}`.split(' '),
    ExposedPorts: { [SIDECAR_PORT]: {} },
    HostConfig: {
      PublishAllPorts: true,
      NetworkMode: 'bridge',
      ExtraHosts: ['host.docker.internal:host-gateway'],
      CapAdd: ['NET_ADMIN'],
    },
  })
  await client.call('POST', `/containers/${name}/start`)
  const details = await client.call('GET', `/containers/${name}/json`)
  const port = textAt(details, ['NetworkSettings', 'Ports', SIDECAR_PORT, 0, 'HostPort'])
  if (port === undefined) throw new Error('it publishes no port of the networking sidecar')
  await untilAnswers(`http://127.0.0.1:${port}/ca`)
}

async function untilAnswers(url: string): Promise<void> {
  const deadline = AbortSignal.timeout(LISTENS_MS)
  while (!(await answers(url, deadline))) {
    if (deadline.aborted) throw new Error('the networking sidecar does not answer on its port')
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const [answer]: IncomingMessage[] = await once(get(url, { signal, agent: false }), 'response')
    answer?.resume()
    return answer?.statusCode === 200
  } catch {
    // Not yet.
    return false
  }
}

async function runOnce(client: DockerClient, name: string, image: string): Promise<void> {
  const HostConfig = { NetworkMode: `container:${name}-proxy` }
  await create(client, name, { Image: image, Entrypoint: ['/bin/true'], HostConfig })
  await client.call('POST', `/containers/${name}/start`)
  const ended = await client.call('POST', `/containers/${name}/wait`)
  const code = textAt(ended, ['StatusCode'])
  if (code !== '0') throw new Error(`a container ended with ${code} at once`)
}

async function create(client: DockerClient, name: string, settings: object): Promise<void> {
  await client.call('POST', `/containers/create?name=${name}`, { ...settings, Labels: LABELS })
}
