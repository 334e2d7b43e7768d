import { FleetDirectory } from '@helix-agents/sandbox-fleet/cloudflare'

/** The class as an application exports it. */
export class FleetObject extends FleetDirectory {}

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import('./worker.ts')
    }
    interface Env {
      FLEET: DurableObjectNamespace<FleetObject>
    }
  }
}

export default {
  fetch: (): Response => new Response('nothing here', { status: 404 }),
}
