/** Something that goes wrong on demand; each names what the outside world sees. */
export type Fault = FaultScope &
  (
    | {
        /** The container boots only after a delay. */
        readonly kind: 'slow-start'
        readonly delayMs: number
      }
    | {
        /** The platform has no room: the message of the platform, before anything started. */
        readonly kind: 'capacity'
        readonly reason: 'no-instance' | 'max-instances'
      }
    | {
        /** The container starts, but nothing ever listens on its port. */
        readonly kind: 'never-listens'
      }
    | {
        /** The container exits by itself. */
        readonly kind: 'exits'
        readonly afterMs: number
        readonly exitCode: number
      }
    | {
        /** The operation runs to its end; the connection is cut in place of the answer. */
        readonly kind: 'lost-reply'
        readonly call?: string
      }
    | {
        /** The connection is cut before the operation reaches the container, or right after. */
        readonly kind: 'interrupted'
        readonly when: 'before-admission' | 'after-admission'
        readonly call?: string
      }
    | {
        /** The connection is cut in the middle of what one side sends, after so many bytes. */
        readonly kind: 'cut-off'
        readonly sender: 'worker' | 'container'
        readonly afterBytes: number
      }
    | {
        /** Every message between Worker and container takes longer, each way. */
        readonly kind: 'slow-network'
        readonly delayMs: number
      }
    | {
        /** Messages stop arriving while connections stay open, until the fault is removed. */
        readonly kind: 'frozen-network'
      }
    | {
        /** The engine rejects stopping or removing the container, which keeps running. */
        readonly kind: 'rejected-destroy'
        readonly step: 'kill' | 'delete' | 'both'
      }
  )

/** Where and how often a fault happens. */
export interface FaultScope {
  /** Id of one sandbox, as given to `getSandbox`; every sandbox when left out. */
  readonly sandbox?: string
  /** Lets so many pass before it happens: 2 means the third call, start or message. Default 0. */
  readonly skip?: number
  /** Ends the fault after this many times; until removed when left out. */
  readonly times?: number
}

/** The name of a fault. */
export type FaultKind = Fault['kind']
/** A fault of one kind, with its settings. */
export type FaultOf<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>

/** A fault in force. */
export interface InjectedFault extends Disposable {
  /** Number of times it has occurred. */
  readonly hits: number
  /** Resolves when it happens for the first time: not before the reply is lost, the container exits. */
  readonly happened: Promise<void>
  /** Ends it; a second call does nothing. */
  remove(): void
}
