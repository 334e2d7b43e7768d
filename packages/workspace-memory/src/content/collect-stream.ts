/**
 * Every byte of a stream as one array.
 * @param check called with the size so far; throws when it is too much. The source is cancelled.
 */
export async function collectStream(
  source: ReadableStream<Uint8Array>,
  check: (size: number) => void,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of source) {
    size += piece.byteLength
    check(size)
    pieces.push(new Uint8Array(piece))
  }
  const whole = new Uint8Array(size)
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
  }
  return whole
}
