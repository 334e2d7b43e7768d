/** Version of the SDK and of its image; both are pinned together. */
export const SERVER_VERSION = '0.12.10'

/** The image of the SDK, for a real container engine. */
export const IMAGE = `cloudflare/sandbox:${SERVER_VERSION}`
