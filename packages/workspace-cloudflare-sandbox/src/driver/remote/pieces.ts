/**
 * Cuts a content into pieces of so many bytes; the last one may be shorter, and an empty content is
 * one empty piece. A consumer that stops early releases the source.
 */
export async function* pieces(
  data: Uint8Array | ReadableStream<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array, void> {
  if (data instanceof Uint8Array) {
    yield data.subarray(0, pieceBytes)
    for (let at = pieceBytes; at < data.length; at += pieceBytes) {
      yield data.subarray(at, at + pieceBytes)
    }
    return
  }
  const reader = data.getReader()
  const gathered = new Gathered()
  let count = 0
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      gathered.add(next.value)
      while (gathered.lengthBytes >= pieceBytes) {
        yield gathered.take(pieceBytes)
        count += 1
      }
    }
    if (count === 0 || gathered.lengthBytes > 0) yield gathered.take(gathered.lengthBytes)
  } finally {
    await reader.cancel()
  }
}

/** Chunks that wait to be joined. */
class Gathered {
  lengthBytes = 0
  #chunks: Uint8Array[] = []

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.lengthBytes += chunk.length
  }

  /** The first bytes, of which there must be as many. */
  take(lengthBytes: number): Uint8Array {
    const piece = new Uint8Array(lengthBytes)
    let at = 0
    for (const [index, chunk] of this.#chunks.entries()) {
      const part = chunk.subarray(0, lengthBytes - at)
      piece.set(part, at)
      at += part.length
      if (part.length === chunk.length) continue
      this.#chunks = [chunk.subarray(part.length), ...this.#chunks.slice(index + 1)]
      this.lengthBytes -= lengthBytes
      return piece
    }
    this.#chunks = []
    this.lengthBytes -= lengthBytes
    return piece
  }
}
