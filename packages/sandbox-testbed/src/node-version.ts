import { SandboxTestbedError } from './testbed-error.ts'

const OLDEST = [22, 18] as const

/** Why this Node does not serve; undefined when it does. */
export function nodeProblem(version = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
  return isOld ? `Node ${OLDEST.join('.')} or newer is needed, this is ${version}` : undefined
}

/** @throws {SandboxTestbedError} isolation-unavailable */
export function refuseOldNode(): void {
  const problem = nodeProblem()
  if (problem !== undefined) throw new SandboxTestbedError('isolation-unavailable', problem)
}
