/** A container that runs, as the host sees it. */
export interface RunningSandbox {
  /** Id of the Durable Object: what the sandbox id becomes. */
  readonly objectId: string
  /** Process on the host whose end ends the container. */
  readonly pid: number | undefined
  /** Folder on the host that is the disk of the container; empty for a real engine. */
  readonly root: string
  /** The end of what the container server printed. */
  readonly output: string
}
