import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** For a browser that only shows pages of this machine. */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
]

/** Path of a Chromium of this machine, or of `HELIX_CHROMIUM`. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return [process.env.HELIX_CHROMIUM, ...paths].find(isProgram)
}

function isProgram(path: string | undefined): path is string {
  if (path === undefined) return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Not there, or not a program.
    return false
  }
}
