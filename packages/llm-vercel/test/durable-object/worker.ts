import { DurableObject } from 'cloudflare:workers'

/** Its storage is what a test looks at. */
export class Sessions extends DurableObject {}

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import('./worker.ts')
    }
    interface Env {
      SESSIONS: DurableObjectNamespace<Sessions>
    }
  }
}

export default {
  fetch: (): Response => new Response('the tests are the program'),
}
