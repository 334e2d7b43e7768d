import { type Clock, type Logger, noopLogger } from '@helix-agents/core'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { toPrometheusText } from '../alerts/prometheus.ts'
import type { DiagnoseContext } from '../detect/diagnose.ts'
import type { Fleet } from '../fleet.ts'
import { requireAdmin } from './admin-access.ts'
import { addDashboard } from './dashboard-routes.ts'
import { answerFailure, answerUnknown } from './failures.ts'
import { rejectBody } from './reject-body.ts'
import { rejectInvalid, toFleetQuery } from './request-schemas.ts'
import * as routes from './routes.ts'
import {
  toWireCleanup,
  toWireDetail,
  toWireLogs,
  toWireReconcile,
  toWireResources,
  toWireSandbox,
  toWireStats,
} from './to-wire.ts'

/** Options of `createFleetApp`. */
export interface FleetAppOptions<Env extends object = object> {
  /** The fleet of a request; in a Worker it is made of `env`. */
  readonly fleet: Fleet | ((env: Env) => Fleet)
  /**
   * The bearer token of operators, of at least 16 characters; several, while one is replaced by
   * the next. In a Worker it is a secret of `env`.
   */
  readonly adminToken: string | readonly string[] | ((env: Env) => string | readonly string[])
  /**
   * Requests for `localhost` need no token. Only for local development: any client that
   * reaches the port can pretend to have asked for `localhost`. Default false.
   */
  readonly insecureAllowLocal?: boolean
  /** Default: no log. */
  readonly logger?: Logger
  /** Clock of the ages in answers. Default: the time of the fleet, see `Fleet.now`. */
  readonly clock?: Clock
}

/** The HTTP API of a fleet with its dashboard, to be served as it is or mounted with `route`. */
export type FleetApp<Env extends object = object> = OpenAPIHono<{ Bindings: Env }>

interface Parts<Env extends object> {
  readonly app: FleetApp<Env>
  readonly fleetOf: (context: Context<{ Bindings: Env }>) => Fleet
  readonly nowOf: (fleet: Fleet) => Promise<number>
}

/** What needs the token; the page itself holds no data. */
const GUARDED = ['/api/*', '/metrics', '/openapi.json']

const noStore: MiddlewareHandler = async (context, next) => {
  await next()
  context.header('Cache-Control', 'no-store')
}

/**
 * Makes the app: the routes of `/api/sandbox`, `/metrics`, `/openapi.json`, and the dashboard at
 * `/`. It runs in Workers and in Node; `app.fetch` is its handler.
 */
export function createFleetApp<Env extends object = object>(
  options: FleetAppOptions<Env>,
): FleetApp<Env> {
  const { adminToken, fleet, logger = noopLogger, clock } = options
  const app: FleetApp<Env> = new OpenAPIHono({ defaultHook: rejectInvalid })
  const admin = requireAdmin<Env>({
    tokens: (env) => [typeof adminToken === 'function' ? adminToken(env) : adminToken].flat(),
    allowLocal: options.insecureAllowLocal ?? false,
  })
  for (const path of GUARDED) app.use(path, admin, noStore)
  app.use('/api/*', rejectBody)
  const fleetOf: Parts<Env>['fleetOf'] = ({ env }) =>
    typeof fleet === 'function' ? fleet(env) : fleet
  const nowOf: Parts<Env>['nowOf'] = async (asked) => clock?.now() ?? asked.now()
  const parts = { app, fleetOf, nowOf }
  addReadRoutes(parts)
  addPassRoutes(parts)
  addMetrics(parts)
  addDashboard(app)
  addDocument(app)
  app.onError((error, context) => answerFailure(error, context, logger))
  app.notFound(answerUnknown)
  return app
}

function addReadRoutes<Env extends object>({ app, fleetOf, nowOf }: Parts<Env>): void {
  const contextOf = async (fleet: Fleet): Promise<DiagnoseContext> => ({
    now: await nowOf(fleet),
    policy: fleet.policy,
  })
  app.openapi(routes.statsRoute, async (context) => {
    const fleet = fleetOf(context)
    const stats = await fleet.stats()
    return context.json(toWireStats(stats, await nowOf(fleet)), 200)
  })
  app.openapi(routes.listRoute, async (context) => {
    const fleet = fleetOf(context)
    const diagnosing = await contextOf(fleet)
    const page = await fleet.list(toFleetQuery(context.req.valid('query'), diagnosing.now))
    if (page.nextCursor !== undefined) context.header('Link', nextPage(context, page.nextCursor))
    return context.json(
      page.records.map((record) => toWireSandbox(record, diagnosing)),
      200,
    )
  })
  app.openapi(routes.showRoute, async (context) => {
    const fleet = fleetOf(context)
    const record = await fleet.get(context.req.valid('param').id)
    return context.json(toWireDetail(record, await contextOf(fleet)), 200)
  })
  app.openapi(routes.logsRoute, async (context) => {
    const { id } = context.req.valid('param')
    return context.json(toWireLogs(id, await fleetOf(context).logs(id)), 200)
  })
  app.openapi(routes.resourcesRoute, async (context) => {
    const usage = await fleetOf(context).resources(context.req.valid('param').id)
    return context.json(toWireResources(usage), 200)
  })
}

function addPassRoutes<Env extends object>({ app, fleetOf }: Parts<Env>): void {
  app.openapi(routes.cleanupRoute, async (context) => {
    const report = await fleetOf(context).cleanup(toPassOptions(context.req.valid('query')))
    return context.json(toWireCleanup(report), 200)
  })
  app.openapi(routes.emergencyRoute, async (context) => {
    const report = await fleetOf(context).emergency(toPassOptions(context.req.valid('query')))
    return context.json(toWireCleanup(report), 200)
  })
  app.openapi(routes.reconcileRoute, async (context) => {
    const report = await fleetOf(context).reconcile(toPassOptions(context.req.valid('query')))
    return context.json(toWireReconcile(report), 200)
  })
  app.openapi(routes.terminateRoute, async (context) => {
    const { id } = context.req.valid('param')
    const { generation, reason = 'ended over HTTP' } = context.req.valid('query')
    const which = generation !== undefined && { generation }
    const request = { by: 'operator', detail: reason, ...which }
    const outcome = await fleetOf(context).terminate(id, request)
    const isDone = outcome === 'destroyed' || outcome === 'gone'
    return context.json({ id, outcome }, isDone ? 200 : 202)
  })
}

function addMetrics<Env extends object>({ app, fleetOf }: Parts<Env>): void {
  app.get('/metrics', async (context) => {
    const fleet = fleetOf(context)
    const text = toPrometheusText(await fleet.stats(), await fleet.alerts())
    return context.body(text, 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' })
  })
}

function addDocument<Env extends object>(app: FleetApp<Env>): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'adminToken', {
    type: 'http',
    scheme: 'bearer',
  })
  app.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: { title: 'Sandbox fleet', version: '1' },
  })
}

function toPassOptions({ dry_run: dryRun }: { readonly dry_run?: string | undefined }): {
  readonly dryRun: boolean
} {
  return { dryRun: dryRun === 'true' }
}

function nextPage(context: Context, cursor: string): string {
  const address = new URL(context.req.url)
  address.searchParams.set('cursor', cursor)
  return `<${address.pathname}${address.search}>; rel="next"`
}
