export interface Page {
  readonly file: string
  readonly current: string
  /** As the sources would have it. */
  readonly derived: string
}
