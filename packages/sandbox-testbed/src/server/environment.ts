/** The default directory of commands. */
export const WORKSPACE = '/workspace'

/** The session id that means: no session, one process for each command. */
export const NO_SESSION = '__DISABLE_SESSION__'

/** A variable whose value is undefined is left out. */
export type Variables = Readonly<Record<string, string | undefined>>

/** What commands inherit from the server: everything but what is meant for the server itself. */
export function baseEnvironment(): Record<string, string> {
  const inherited: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !isOwn(name)) inherited[name] = value
  }
  return inherited
}

/** The environment of one command. */
export function withVariables(variables: Variables = {}): Record<string, string> {
  const merged = baseEnvironment()
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete merged[name]
    else merged[name] = value
  }
  return merged
}

/** The home directory, where a shell lands when its own directory is missing. */
export function homeDirectory(): string {
  return process.env.HOME ?? '/'
}

/** What the container is made of. */
export type ContainerImage = 'default' | 'python' | 'plain-python'

/** The image that the engine says this container has. */
export function imageOf(): ContainerImage {
  const image = process.env.HELIX_TESTBED_IMAGE
  return image === 'python' || image === 'plain-python' ? image : 'default'
}

/** How many interpreters of each language were started ahead. */
export function interpretersAhead(): number {
  return Number(process.env.HELIX_TESTBED_AHEAD ?? 3)
}

/** The line of the SDK whose protocol is spoken. */
export function lineOf(): '0.12' | '0.13' {
  return process.env.HELIX_TESTBED_LINE === '0.13' ? '0.13' : '0.12'
}

/** Whether calls take as long as on the real server. */
export function hasRealCosts(): boolean {
  return process.env.HELIX_TESTBED_COSTS === 'recorded'
}

function isOwn(name: string): boolean {
  return name.startsWith('HELIX_TESTBED_') || name === 'BASH_ENV'
}
