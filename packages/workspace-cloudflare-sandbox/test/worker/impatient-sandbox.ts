import { Sandbox } from '@cloudflare/sandbox'

/** So long the SDK asks a platform again that has no room; two minutes are more than a test has. */
const PATIENCE_MS = 2000

/** The class of the SDK, but for its patience. */
export class ImpatientSandbox extends Sandbox {}

Object.defineProperty(ImpatientSandbox.prototype, 'computeRetryTimeoutMs', {
  value: () => PATIENCE_MS,
})
