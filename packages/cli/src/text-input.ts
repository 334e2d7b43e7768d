import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { TextInput } from './cli-host.ts'

/** A stream of the process as input. It is not touched before it is asked for. */
export function createTextInput(open: () => NodeJS.ReadStream): TextInput {
  return {
    get isTTY() {
      return open().isTTY
    },
    readAll: () => text(open()),
    readLine: async () => {
      const lines = createInterface({ input: open() })
      try {
        for await (const line of lines) return line
        return ''
      } finally {
        lines.close()
      }
    },
  }
}
