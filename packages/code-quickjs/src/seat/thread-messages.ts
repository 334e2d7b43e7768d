import type {
  FileCall,
  FileReply,
  SessionLimits,
  SessionOutcome,
  SessionOutput,
  SessionRequest,
} from '../protocol.ts'

/** What a thread is started with. */
export interface ThreadData {
  readonly wasm: WebAssembly.Module
  readonly limits: SessionLimits
  /** Its one number is 1 when the run is to be ended. */
  readonly abort: SharedArrayBuffer
}

/** To a thread. */
export type ToThread =
  | { readonly type: 'run'; readonly request: SessionRequest }
  | { readonly type: 'reply'; readonly id: number; readonly reply: FileReply }
  /** Forget the session, and make the next one. */
  | { readonly type: 'reset' }

/** From a thread. */
export type FromThread =
  /** A session is made, or could not be. */
  | { readonly type: 'ready' }
  | { readonly type: 'outputs'; readonly outputs: readonly SessionOutput[] }
  | { readonly type: 'call'; readonly id: number; readonly call: FileCall }
  | { readonly type: 'done'; readonly outcome: SessionOutcome; readonly heldBytes: number }
