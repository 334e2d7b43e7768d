import type { ContainerImage } from './root/image.ts'

/** Version of the SDK and of its image; both are pinned together. */
export const SERVER_VERSION = '0.12.10'

/** The image of the SDK. */
export const IMAGE = `cloudflare/sandbox:${SERVER_VERSION}`

/** The image for outbound interception that belongs to the installed workerd. */
export const SIDECAR_IMAGE = 'cloudflare/proxy-everything:3cb1195'

/** What a real container engine runs. */
export interface ContainerImages {
  readonly image: string
  readonly sidecarImage: string
}

/** The images of Cloudflare, or those that the environment names in their place. */
export function containerImages(image: ContainerImage = 'default'): ContainerImages {
  return {
    image: process.env.HELIX_SANDBOX_IMAGE || (image === 'python' ? `${IMAGE}-python` : IMAGE),
    // The name that Miniflare and `wrangler dev` know.
    sidecarImage: process.env.MINIFLARE_CONTAINER_EGRESS_IMAGE || SIDECAR_IMAGE,
  }
}
