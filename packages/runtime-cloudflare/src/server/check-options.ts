type UncheckedOptions = Partial<
  Readonly<Record<'llmAdapter' | 'agents' | 'workspaceProviders', unknown>>
>

/**
 * What a first user may write is told when the class is made, not when an object is asked.
 * @throws {TypeError} for options of a wrong kind.
 */
export function assertServerOptions(options: UncheckedOptions): void {
  const { llmAdapter, agents, workspaceProviders } = options
  if (typeof llmAdapter !== 'function') throw wrong('llmAdapter', '(env, ctx) => an adapter')
  if (typeof agents !== 'function' && !Array.isArray(agents)) {
    throw wrong('agents', 'a list of agents, or (env, ctx) => that list')
  }
  if (workspaceProviders !== undefined && typeof workspaceProviders !== 'function') {
    throw wrong('workspaceProviders', '(env, ctx, session) => a list of providers')
  }
}

function wrong(option: string, wanted: string): TypeError {
  return new TypeError(`createAgentServer: the option ${option} must be ${wanted}`)
}
