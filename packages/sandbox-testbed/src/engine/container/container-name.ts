import { createHash, createHmac } from 'node:crypto'

const NAME = /^workerd-(?<key>.+)-(?<object>[0-9a-f]{64})$/

/** What workerd says in the name of a container: whose Durable Object it belongs to. */
export interface ContainerOwner {
  /** Unique key of the Durable Object namespace. */
  readonly key: string
  /** Id of the object, 64 hexadecimal digits. */
  readonly objectId: string
}

/** Reads the name that workerd gave a container. */
export function ownerOf(containerName: string): ContainerOwner | undefined {
  const { key, object } = NAME.exec(containerName)?.groups ?? {}
  return key === undefined || object === undefined ? undefined : { key, objectId: object }
}

/** The id that workerd derives from a name in a namespace: keyed hash, then its own check. */
export function objectIdFromName(key: string, name: string): string {
  const secret = createHash('sha256').update(key).digest()
  const keyed = (data: string | Buffer): Buffer =>
    createHmac('sha256', secret).update(data).digest().subarray(0, 16)
  const base = keyed(name)
  return Buffer.concat([base, keyed(base)]).toString('hex')
}

/** Whether a container is the one of the sandbox with this id. */
export function isContainerOf(containerName: string, sandbox: string): boolean {
  const owner = ownerOf(containerName)
  return owner !== undefined && objectIdFromName(owner.key, sandbox) === owner.objectId
}
