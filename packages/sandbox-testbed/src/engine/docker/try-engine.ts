import { randomUUID } from 'node:crypto'
import type { ContainerImages } from '../../sandbox-image.ts'
import type { DockerClient } from './docker-client.ts'
import { textAt } from '../json-text.ts'
import { SIDECAR_PORT, untilSidecarAnswers } from './sidecar-ready.ts'

const LABELS = { 'dev.helix-agents.sandbox-testbed': 'probe' }
const SIDECAR_OPTIONS =
  '--http-egress-port 49121 --http-ingress-address 0.0.0.0:39001 --dns-enabled --tls-intercept --disable-ipv6'
const LISTENS_MS = 10_000

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
  await untilSidecarAnswers(client, name, LISTENS_MS)
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
