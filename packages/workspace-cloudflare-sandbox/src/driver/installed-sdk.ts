import { DriverError } from './driver-error.ts'

/** A line of `@cloudflare/sandbox` that the driver speaks. */
export type SdkLine = '0.12' | '0.13'

/** The versions that the driver was tried with, by line. */
export const SUPPORTED_SDKS: Readonly<Record<SdkLine, string>> = {
  '0.12': '0.12.10',
  '0.13': '0.13.0-next.751.1',
}

/** Names that a line exports and the lines beside it do not; no line exports its version. */
const MARKS: readonly (readonly [SdkLine, readonly string[]])[] = [
  ['0.12', ['getSandbox', 'SandboxClient', 'ContainerUnavailableError']],
  ['0.13', ['getSandbox', 'StaleProcessHandleError', 'ContainerUnavailableError']],
]

/**
 * The line of an installed SDK, by what it exports.
 * @param sdk The module `@cloudflare/sandbox`.
 * @throws {DriverError} `not-configured`, naming the versions that are supported.
 */
export function lineOfSdk(sdk: object): SdkLine {
  const known = MARKS.find(([, names]) => names.every((name) => name in sdk))
  if (known !== undefined) return known[0]
  const supported = Object.values(SUPPORTED_SDKS).join(' and ')
  const detail = `the installed version of @cloudflare/sandbox is unknown; ${supported} are supported`
  throw new DriverError('not-configured', detail, { admitted: 'no' })
}

/**
 * The 0.13 line has one transport.
 * @throws {DriverError} `not-configured`, for another one.
 */
export function assertTransport(line: SdkLine, transport: string): void {
  if (line === '0.12' || transport === 'rpc') return
  const detail = `the installed @cloudflare/sandbox has no transport ${transport}: declare rpc or none`
  throw new DriverError('not-configured', detail, { admitted: 'no' })
}
