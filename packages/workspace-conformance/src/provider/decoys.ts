/**
 * Files beside the backend, made by the test, that no call may reach. Behaviours forge ids and
 * paths towards them and nothing else. All of it, the provider's own directory included, belongs
 * several levels deep inside a directory that the test made.
 */
export interface Decoys {
  /**
   * What a provider that trusts the id in a ref would take for the decoys: their directory,
   * absolute and relative to the one where ids are looked up. `''` and `'.'` belong here only
   * if that directory was made by the test as well.
   */
  readonly ids: readonly string[]
  /** Paths that lead from the root of a workspace to decoys where `..` is followed. */
  readonly paths: readonly string[]
  /** Whether every decoy is still there with its content, and nothing was added to them. */
  isIntact(): Promise<boolean>
}
