// The Worker under test: the real SDK, and an object like that of an agent, which holds the
// provider and its workspaces.
export { ContainerProxy, Sandbox } from '@cloudflare/sandbox'
export { BenchObject } from './bench-object.ts'
export { ImpatientSandbox } from './impatient-sandbox.ts'

interface Bindings {
  readonly BENCH: DurableObjectNamespace
}

const worker = {
  async fetch(request: Request, { BENCH }: Bindings): Promise<Response> {
    const { pathname } = new URL(request.url)
    return BENCH.get(BENCH.idFromName(pathname)).fetch(request)
  },
}

export default worker
