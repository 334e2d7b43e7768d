import { DurableObject } from 'cloudflare:workers'

interface Bindings {
  FILES: DurableObjectNamespace<FilesObject>
  /** Planted: no command may see it. */
  HELIX_TEST_API_KEY: string
}

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import('./worker.ts')
    }
    interface Env extends Bindings {}
  }
}

/** Has a SQLite database for files. */
export class FilesObject extends DurableObject<Bindings> {}

export default {
  fetch: (): Response => new Response('nothing here', { status: 404 }),
}
