import type {
  HostCommandCall,
  OutputName,
  Script,
  ScriptEnd,
  ScriptFiles,
} from '../script/script.ts'

/** What a thread gets. */
export type ToThread =
  | { readonly type: 'run'; readonly script: Script }
  | { readonly type: 'abort' }
  | { readonly type: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: CallError }

/** What a thread sends. */
export type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'end'; readonly end: ScriptEnd }
  | { readonly type: 'failed'; readonly message: string }
  | ({ readonly type: 'call'; readonly id: number } & ThreadCall)

/** A call of a script on its host. */
export type ThreadCall =
  | FileCall
  | {
      readonly target: 'write'
      readonly output: OutputName
      readonly piece: Uint8Array<ArrayBuffer>
    }
  | { readonly target: 'command'; readonly call: HostCommandCall }

export interface FileCall {
  readonly target: 'files'
  readonly method: keyof ScriptFiles
  readonly args: readonly unknown[]
}

/** An error as it passes between threads. */
export interface CallError {
  readonly code?: string
  readonly message: string
}

export const FILE_METHODS: ReadonlySet<string> = new Set<keyof ScriptFiles>([
  'readFile',
  'writeFile',
  'appendFile',
  'ls',
  'stat',
  'mkdir',
  'rm',
  'copy',
  'move',
  'grep',
  'settle',
])
