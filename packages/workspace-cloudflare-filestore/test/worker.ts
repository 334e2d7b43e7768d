import { DurableObject } from 'cloudflare:workers'

interface Bindings {
  FILES: DurableObjectNamespace<FilesObject>
  WITHOUT_SQL: DurableObjectNamespace<ObjectWithoutSql>
  BUCKET: R2Bucket
}

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import('./worker.ts')
    }
    interface Env extends Bindings {}
  }
}

/** Has a SQLite database; the tests work on it directly. */
export class FilesObject extends DurableObject<Bindings> {}

/** Made with `new_classes`, as one that was deployed long ago: it has no SQLite database. */
export class ObjectWithoutSql extends DurableObject<Bindings> {}

export default {
  fetch: (): Response => new Response('nothing here', { status: 404 }),
}
