import { sandboxTestbedAvailability } from '@helix-agents/sandbox-testbed'

/** Why no test bed can run here; printed, so that nobody takes a skip for a pass. */
export async function whyNoTestbed(): Promise<string | undefined> {
  const availability = await sandboxTestbedAvailability()
  if (availability.available) return undefined
  const reason = `skipped, no sandbox test bed: ${availability.reason}`
  process.stderr.write(`${reason}\n`)
  return reason
}
