import { createRoute, z } from '@hono/zod-openapi'
import {
  idSchema,
  listQuerySchema,
  passQuerySchema,
  terminateQuerySchema,
} from './request-schemas.ts'
import {
  failureSchema,
  logsSchema,
  passSchema,
  resourcesSchema,
  sandboxDetailSchema,
  sandboxSchema,
  statsSchema,
  terminationSchema,
} from './wire.ts'

const failure = (description: string): ReturnType<typeof json<typeof failureSchema>> =>
  json(failureSchema, description)

const always = {
  401: failure('The admin token is missing'),
  403: failure('The admin token is wrong, or the request comes from another site'),
  500: failure('A record is corrupt, or the fleet is not configured'),
  503: failure('The ledger is unavailable, or the circuit breaker of the provider is open'),
}
const ofOne = {
  ...always,
  400: failure('The id is not valid, or the request has a body'),
  404: failure('Unknown sandbox'),
}
const ofPass = {
  ...always,
  400: failure('dry_run must be true or false; the request must have no body'),
}
const security = [{ adminToken: [] }]

function json<S extends z.ZodType>(
  schema: S,
  description: string,
): { content: { 'application/json': { schema: S } }; description: string } {
  return { content: { 'application/json': { schema } }, description }
}

export const statsRoute = createRoute({
  method: 'get',
  path: '/api/sandbox/stats',
  summary: 'Counts and usage of the fleet',
  security,
  responses: { 200: json(statsSchema, 'Counts and usage'), ...always },
})

export const listRoute = createRoute({
  method: 'get',
  path: '/api/sandbox/list',
  summary: 'Sandboxes, newest first; the Link header has the next page',
  security,
  request: { query: listQuerySchema },
  responses: {
    200: json(z.array(sandboxSchema), 'One page'),
    ...always,
    400: failure('A filter, limit or cursor is not valid'),
  },
})

export const showRoute = createRoute({
  method: 'get',
  path: '/api/sandbox/{id}',
  summary: 'One sandbox with its history',
  security,
  request: { params: idSchema },
  responses: { 200: json(sandboxDetailSchema, 'The sandbox'), ...ofOne },
})

export const logsRoute = createRoute({
  method: 'get',
  path: '/api/sandbox/{id}/logs',
  summary: 'Latest output of its commands',
  security,
  request: { params: idSchema },
  responses: {
    200: json(logsSchema, 'Lines'),
    ...ofOne,
    501: failure('The driver does not support logs'),
    502: failure('The provider failed'),
  },
})

export const resourcesRoute = createRoute({
  method: 'get',
  path: '/api/sandbox/{id}/resources',
  summary: 'CPU and memory of a sandbox',
  security,
  request: { params: idSchema },
  responses: {
    200: json(resourcesSchema, 'CPU and memory'),
    ...ofOne,
    501: failure('The driver does not support resources'),
    502: failure('The provider failed'),
  },
})

export const terminateRoute = createRoute({
  method: 'delete',
  path: '/api/sandbox/{id}',
  summary: 'Destroy one sandbox, in use or not',
  security,
  request: { params: idSchema, query: terminateQuerySchema },
  responses: {
    200: json(terminationSchema, 'Confirmed gone'),
    202: json(terminationSchema, 'Not confirmed yet; it is retried'),
    ...ofOne,
    409: failure('Changed concurrently'),
    501: failure('No driver of this fleet manages it'),
    502: failure('The provider failed'),
  },
})

export const cleanupRoute = createRoute({
  method: 'post',
  path: '/api/sandbox/cleanup',
  summary: 'Run one cleanup',
  security,
  request: { query: passQuerySchema },
  responses: { 200: json(passSchema, 'Report of the pass'), ...ofPass },
})

export const emergencyRoute = createRoute({
  method: 'post',
  path: '/api/sandbox/cleanup/emergency',
  summary: 'Destroy every sandbox that is not critical, in use or not',
  security,
  request: { query: passQuerySchema },
  responses: { 200: json(passSchema, 'Report of the pass'), ...ofPass },
})

export const reconcileRoute = createRoute({
  method: 'post',
  path: '/api/sandbox/reconcile',
  summary: 'Compare the ledger with the providers',
  security,
  request: { query: passQuerySchema },
  responses: { 200: json(passSchema, 'Report of the pass'), ...ofPass },
})
