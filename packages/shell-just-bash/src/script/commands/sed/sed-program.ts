/** What selects lines. */
export type SedAddress =
  | { readonly type: 'line'; readonly line: number }
  | { readonly type: 'last' }
  | { readonly type: 'step'; readonly first: number; readonly step: number }
  | { readonly type: 'pattern'; readonly pattern: SedPattern }
  /** Only as an end: so many lines behind the first. */
  | { readonly type: 'offset'; readonly lines: number }
  /** Only as an end: the next line whose number this divides. */
  | { readonly type: 'multiple'; readonly of: number }

/** As it is written; an empty one is the last that was used. */
export interface SedPattern {
  readonly source: string
  readonly ignoreCase: boolean
  readonly multiline: boolean
}

interface Placed {
  readonly from: SedAddress | undefined
  readonly to: SedAddress | undefined
  readonly isNegated: boolean
}

export type SedReplacementPart =
  | { readonly type: 'text'; readonly text: string }
  /** 0 is the whole match. */
  | { readonly type: 'group'; readonly group: number }
  | { readonly type: 'case'; readonly letter: string }

export interface SedSubstitution {
  readonly type: 's'
  readonly pattern: SedPattern
  readonly replacement: readonly SedReplacementPart[]
  readonly isGlobal: boolean
  /** The first match that is replaced. */
  readonly first: number
  readonly prints: boolean
  readonly file: string | undefined
}

export type SedAction =
  | SedSubstitution
  | { readonly type: 'y'; readonly map: ReadonlyMap<string, string> }
  | { readonly type: 'text'; readonly name: 'a' | 'c' | 'i'; readonly text: string }
  | { readonly type: 'file'; readonly name: 'R' | 'W' | 'r' | 'w'; readonly file: string }
  /** Commands are a flat list: a branch is a place in it. */
  | { readonly type: 'branch'; readonly name: 'T' | 'b' | 't'; readonly target: number }
  /** Goes on behind its end where the address does not select the line. */
  | { readonly type: 'group'; readonly end: number }
  | { readonly type: 'quit'; readonly name: 'Q' | 'q'; readonly exitCode: number }
  | { readonly type: 'simple'; readonly name: string }

export type SedCommand = Placed & { readonly action: SedAction }

export interface SedProgram {
  readonly commands: readonly SedCommand[]
  /** The first line is `#n`. */
  readonly isQuiet: boolean
}

/** What `sed` says of a script or a file that it cannot use. */
export class SedError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
