/** Names with this prefix belong to injected tools. */
export const RESERVED_TOOL_PREFIX = 'workspace__'

/** What every model provider accepts. */
export const MAX_TOOL_NAME_LENGTH = 64

const TOOL_NAME = /^[a-zA-Z0-9_-]+$/

/** Name of an injected tool: `workspace__<workspace>__<tool>`. */
export function workspaceToolName(workspace: string, tool: string): string {
  return `${RESERVED_TOOL_PREFIX}${workspace}__${tool}`
}

/** Order key of the tools of a workspace; also for tools of your own that change its files. */
export function workspaceOrderKey(workspace: string): string {
  return `workspace:${workspace}`
}

/** Whether every model provider accepts the name: 1 to 64 characters of `[a-zA-Z0-9_-]`. */
export function isToolName(name: string): boolean {
  return name.length <= MAX_TOOL_NAME_LENGTH && TOOL_NAME.test(name)
}

/** Whether the name belongs to injected tools. */
export function isReservedToolName(name: string): boolean {
  return name.startsWith(RESERVED_TOOL_PREFIX)
}
