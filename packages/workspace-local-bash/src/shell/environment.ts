import { FALLBACK_PATH } from './program-path.ts'

/** Variables that a command gets from the host by default. `*` at the end stands for anything. */
export const DEFAULT_PASS_ENV: readonly string[] = ['PATH', 'LANG', 'LC_*', 'TZ']

/** The variables of the host that are on the list, and no others. */
export function passedEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const passed: Record<string, string> = { PATH: FALLBACK_PATH }
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && names.some((wanted) => matches(name, wanted))) passed[name] = value
  }
  return passed
}

function matches(name: string, wanted: string): boolean {
  return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted
}
