import { defineAgent } from '@helix-agents/core'
import { createPrometheusMetrics } from '@helix-agents/telemetry/prometheus'
import { boxes, calls, createExecutor, runToEnd, say } from '../harness.ts'

const prometheus = createPrometheusMetrics()

/** Runs an agent with a workspace, then answers like a scrape endpoint. */
async function scrape(): Promise<Response> {
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, workspaces: boxes })
  const steps = [calls(['workspace__box__ls', {}]), say('x')]
  await runToEnd(createExecutor(steps, { metrics: prometheus.metrics }), agent)
  const headers = { 'content-type': prometheus.contentType }
  return new Response(await prometheus.text(), { headers })
}

export default {
  fetch: (_request: Request): Promise<Response> => scrape(),
}
