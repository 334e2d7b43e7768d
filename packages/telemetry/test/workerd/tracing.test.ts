import { defineAgent } from '@helix-agents/core'
import { createRedaction } from '@helix-agents/telemetry/redact'
import { expect, test } from 'vitest'
import { boxes, calls, createExecutor, runToEnd, say } from '../harness.ts'
import { recordSpans, useAsyncContext } from '../tracing/span-recorder.ts'

useAsyncContext()

test('spans nest inside a Worker too', async () => {
  const { tracer, tree } = recordSpans()
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, workspaces: boxes })
  const steps = [calls(['workspace__box__ls', {}]), say('x')]
  await runToEnd(createExecutor(steps, { tracer }), agent)
  expect(tree()).toEqual([
    'invoke_agent a',
    '  helix.step',
    '    chat m',
    '    execute_tool workspace__box__ls',
    '      helix.workspace.open',
    '  helix.step',
    '    chat m',
    '  helix.workspace.close',
  ])
})

test('a logger of a Worker can redact', () => {
  const redaction = createRedaction()
  const headers = new Headers({ cookie: 'SECRET', accept: 'text/html' })
  expect(redaction.fields({ headers })).toEqual({
    headers: { accept: 'text/html', cookie: '[redacted]' },
  })
})
