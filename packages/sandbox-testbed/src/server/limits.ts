/** The largest frame the server takes; a larger one ends the connection. */
export const INCOMING_FRAME_BYTES = 16 * 1024 * 1024

/**
 * The largest frame a Durable Object takes. The server itself does not count, but the connection
 * would not survive such a reply, so it is ended here.
 */
export const OUTGOING_FRAME_BYTES = 32 * 1024 * 1024

/** The most that a whole-file read returns, counted as it is encoded. */
export const READ_BYTES = 32 * 1024 * 1024

/** The largest piece of a stream. */
export const CHUNK_BYTES = 64 * 1024
