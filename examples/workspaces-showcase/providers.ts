import { dirname } from 'node:path'
import { quickJsCode } from '@helix-agents/code-quickjs'
import type { ProviderSelection } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

/** Where the agent of this example can live. */
export const kinds = [
  'in-memory',
  'local-bash',
  'cloudflare-filestore',
  'cloudflare-sandbox',
] as const
export type Kind = (typeof kinds)[number]

export interface Place {
  readonly selection: ProviderSelection
  readonly hasProcesses: boolean
  /** Whether another process finds the files again. */
  readonly isDurable: boolean
  readonly providers: ReadonlyMap<string, WorkspaceProvider>
}

/** The places in a process of Node. */
const places: Readonly<Partial<Record<Kind, (folder: string) => Place>>> = {
  'in-memory': () => ({
    selection: { kind: 'in-memory' },
    hasProcesses: false,
    isDurable: false,
    providers: new Map([
      ['in-memory', new InMemoryWorkspaceProvider({ shell: justBashShell(), code: quickJsCode() })],
    ]),
  }),
  'local-bash': (folder) => {
    // Commands see the PATH of this process: `node` in the workspace is the Node that runs here.
    process.env.PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`
    return {
      selection: { kind: 'local-bash' },
      hasProcesses: true,
      isDurable: true,
      providers: new Map([['local-bash', new LocalBashWorkspaceProvider({ tmpdirRoot: folder })]]),
    }
  },
}

/** The kinds that only exist in a Worker, which hosts the agent for them. */
const hosted: ReadonlySet<Kind> = new Set(['cloudflare-filestore', 'cloudflare-sandbox'])

export function isHosted(kind: Kind): boolean {
  return hosted.has(kind)
}

export function isKind(text: string): text is Kind {
  return kinds.some((kind) => kind === text)
}

/** @param folder where a place on this machine may keep what it stores. */
export function openPlace(kind: Kind, folder: string): Place {
  const open = places[kind]
  if (open === undefined) throw new Error(`${kind} is not in a process`)
  return open(folder)
}
