import { WorkspaceFailedError } from '@helix-agents/core'
import { decodeText } from '@helix-agents/core/provider'
import { WORKSPACE_ROOT } from '../config.ts'
import { SPILL_DIRECTORY } from '../modules/container-path.ts'
import { DriverError } from '../driver/driver-error.ts'
import type { SandboxDriver } from '../driver/port.ts'

const MAX_NAMES = 1000

/**
 * Makes the workspace a directory again. A file or a link to nowhere in its place is renamed:
 * nothing is lost, and agents that have commands only need no other way out.
 */
const SCRIPT = `r=${WORKSPACE_ROOT}
if [[ -d $r ]]; then echo fine; exit; fi
if [[ ! -e $r && ! -L $r ]]; then mkdir -p -- "$r" && echo made; exit; fi
for ((i = 1; i <= ${MAX_NAMES}; i++)); do
  [[ -e $r.$i || -L $r.$i ]] && continue
  mv -nT -- "$r" "$r.$i" && mkdir -p -- "$r" && echo "$r.$i"
  exit
done`

/** The name that it was given. */
const KEPT_NAME = new RegExp(String.raw`^${WORKSPACE_ROOT}\.\d+$`)

/** What became of the root of a workspace. */
export interface RootRecovery {
  /** The directory was missing and was made: the operation may be done now. */
  readonly isMade: boolean
  /** Path in the container of what was in its place. */
  readonly keptAs?: string
}

/** Whether the root of the workspace may be what an operation has failed for. */
export function isRootSuspect(error: unknown): error is DriverError {
  return error instanceof DriverError && error.code === 'directory-missing'
}

/** Never rejects: the error that led here is the one to report. */
export async function recoverRoot(driver: SandboxDriver): Promise<RootRecovery> {
  const command = ['bash', '--noprofile', '--norc', '-c', SCRIPT]
  const options = { cwd: '/', timeoutMs: 10_000, maxOutputBytes: 4096 }
  const [run] = await Promise.allSettled([
    driver.exec(command, { ...options, spillDirectory: SPILL_DIRECTORY }),
  ])
  if (run.status === 'rejected') return { isMade: false }
  const said = decodeText(run.value.stdout.bytes).trim()
  return KEPT_NAME.test(said) ? { isMade: false, keptAs: said } : { isMade: said === 'made' }
}

/** Reports that the workspace was replaced, and where the old one is. */
export function rootReplaced(keptAs: string, cause: unknown): WorkspaceFailedError {
  return new WorkspaceFailedError(
    'working-directory-missing',
    'a file or a link to nowhere was in the place of the workspace directory',
    {
      cause,
      hint: `It was moved to ${keptAs}, and the workspace is an empty directory again: repeat what you wanted to do.`,
    },
  )
}
