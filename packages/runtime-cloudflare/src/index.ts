export { AgentServer, type AgentServerClass, createAgentServer } from './server/agent-server.ts'
export type {
  AgentServerOptions,
  CreateProviders,
  EndpointContext,
  EndpointHandler,
  ObjectSession,
} from './server/agent-server-options.ts'
export type { BegunTurn, ExecutionState, ServerHooks, TurnRequest } from './server/server-hooks.ts'
export type { CollectingProvider } from './alarm/collections.ts'
export { RequestError } from './http/http-error.ts'
export {
  type Authenticate,
  insecureAllowAnyone,
  type RequestedSession,
} from './route/authenticate.ts'
export type { Caller } from './route/caller.ts'
export type { CorsOptions } from './route/cors.ts'
export type { RequestedAction, SessionAction } from './route/session-action.ts'
export { routeAgentRequest, type RouteAgentOptions } from './route/route-agent-request.ts'
