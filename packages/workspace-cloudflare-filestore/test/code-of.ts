import { HelixError } from '@helix-agents/core'

/** Undefined when it went well; else the code. Only errors of the library may come out. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (HelixError.isInstance(error)) return error.code
    return `not of the library: ${String(error)}`
  }
}
