const encoder = new TextEncoder()

/** One server-sent event without a name. */
export function dataEvent(data: object): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(data)}\n\n`)
}

/** One server-sent event that is named after its type and says when. */
export function namedEvent(type: string, fields: object): Uint8Array {
  const data = JSON.stringify({ type, timestamp: timestamp(), ...fields })
  return encoder.encode(`event: ${type}\ndata: ${data}\n\n`)
}

/** Now, as the protocol writes it. */
export function timestamp(): string {
  return new Date().toISOString()
}
