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
  403: failure('The admin token is wrong, or the request is of another site'),
  500: failure('A record that cannot be read, or a fleet that is not set up'),
  503: failure('The ledger did not answer, or the provider is left alone for a while'),
}
const ofOne = {
  ...always,
  400: failure('The id is not valid, or the request has a body'),
  404: failure('No such sandbox'),
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
  summary: 'How the fleet stands',
  security,
  responses: { 200: json(statsSchema, 'Numbers'), ...always },
})

export const listRoute = createRoute({
  method: 'get',
  path: '/api/sandbox/list',
  summary: 'Sandboxes, the newest first; the next page is in the Link header',
  security,
  request: { query: listQuerySchema },
  responses: {
    200: json(z.array(sandboxSchema), 'A page'),
    ...always,
    400: failure('A filter, a limit or a cursor that cannot be used'),
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
  summary: 'The last lines of its commands',
  security,
  request: { params: idSchema },
  responses: {
    200: json(logsSchema, 'Lines'),
    ...ofOne,
    501: failure('Its provider has no logs'),
    502: failure('Its provider failed'),
  },
})

export const resourcesRoute = createRoute({
  method: 'get',
  path: '/api/sandbox/{id}/resources',
  summary: 'What it uses',
  security,
  request: { params: idSchema },
  responses: {
    200: json(resourcesSchema, 'Use'),
    ...ofOne,
    501: failure('Its provider cannot tell'),
    502: failure('Its provider failed'),
  },
})

export const terminateRoute = createRoute({
  method: 'delete',
  path: '/api/sandbox/{id}',
  summary: 'Ends one sandbox, in use or not',
  security,
  request: { params: idSchema, query: terminateQuerySchema },
  responses: {
    200: json(terminationSchema, 'Confirmed gone'),
    202: json(terminationSchema, 'Not confirmed yet; it is tried again'),
    ...ofOne,
    409: failure('It was changed at the same time'),
    501: failure('This fleet does not reach it'),
    502: failure('Its provider failed'),
  },
})

export const cleanupRoute = createRoute({
  method: 'post',
  path: '/api/sandbox/cleanup',
  summary: 'One pass of cleanup',
  security,
  request: { query: passQuerySchema },
  responses: { 200: json(passSchema, 'What it did'), ...ofPass },
})

export const emergencyRoute = createRoute({
  method: 'post',
  path: '/api/sandbox/cleanup/emergency',
  summary: 'Ends every sandbox that is not critical, in use or not',
  security,
  request: { query: passQuerySchema },
  responses: { 200: json(passSchema, 'What it did'), ...ofPass },
})

export const reconcileRoute = createRoute({
  method: 'post',
  path: '/api/sandbox/reconcile',
  summary: 'Compares the ledger with what the providers have',
  security,
  request: { query: passQuerySchema },
  responses: { 200: json(passSchema, 'What it did'), ...ofPass },
})
