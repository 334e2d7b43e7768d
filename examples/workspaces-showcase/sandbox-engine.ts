/** What runs the containers of `cloudflare-sandbox` on this machine. */
export type SandboxEngine =
  | { readonly name: 'docker' | 'local'; readonly description: string }
  | { readonly name: undefined; readonly reason: string }

/** Loaded when asked: the other kinds need none of it. */
const load = () => import('@helix-agents/sandbox-testbed')
const probes = {
  docker: async () => (await load()).containerEngineAvailability(),
  local: async () => (await load()).sandboxTestbedAvailability(),
}

/** The image of the SDK where a container engine has it, else private roots of the test bed. */
export async function chooseSandboxEngine(ask = probes): Promise<SandboxEngine> {
  const docker = await ask.docker()
  if (docker.available) {
    const description = `the image ${docker.image} by the engine at ${docker.socketPath}`
    return { name: 'docker', description }
  }
  const local = await ask.local()
  if (!local.available) return { name: undefined, reason: `${local.reason}; ${docker.reason}` }
  const description = `processes in private roots, by ${local.isolation} (${docker.reason})`
  return { name: 'local', description }
}
