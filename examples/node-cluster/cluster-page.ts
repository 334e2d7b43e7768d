import type { QueueStats, WorkerRow } from '@helix-agents/worker-postgres'
import { html } from 'hono/html'

/** A session as the page shows it. */
export interface SessionRow {
  readonly sessionId: string
  readonly status: string
  /** The machine that runs it now; empty when none does. */
  readonly machine: string
  /** The machine that its next turn goes to, while that lives; empty when any machine may take it. */
  readonly staysWith: string
  /** Steps by the machine that did them. */
  readonly steps: Readonly<Record<string, number>>
}

/** What `GET /cluster` answers, and the page shows. */
export interface ClusterView {
  readonly workers: readonly WorkerRow[]
  readonly queue: QueueStats
  /** How often an effect was asked for. */
  readonly attempts: number
  /** Files of all workspaces, when they were checked last. */
  readonly files: number
  /** How often files came back on another machine. */
  readonly restored: number
  readonly sessions: readonly SessionRow[]
}

/** The page: which machine has which session. */
export function pageOf({ workers, queue, sessions }: ClusterView) {
  const turns = `${queue.ready} turns ready, ${queue.delayed} delayed, ${queue.active} active`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="refresh" content="1" />
        <title>Cluster</title>
        <style>
          body {
            font-family: system-ui;
            margin: 2rem;
          }
          td,
          th {
            padding: 0.2rem 1rem 0.2rem 0;
            text-align: left;
          }
        </style>
      </head>
      <body>
        <h1>Cluster</h1>
        <p>${turns}</p>
        <table>
          <tr>
            <th>Machine</th>
            <th>State</th>
            <th>Sessions</th>
            <th>Takeovers</th>
            <th>Silent</th>
          </tr>
          ${workers.map(workerRow)}
        </table>
        <h2>Sessions</h2>
        <table>
          <tr>
            <th>Session</th>
            <th>Status</th>
            <th>Machine</th>
            <th>Stays with</th>
            <th>Steps</th>
          </tr>
          ${sessions.map(sessionRow)}
        </table>
      </body>
    </html>`
}

function workerRow({ machine, state, sessions, takeovers, silentMs }: WorkerRow) {
  const silent = `${Math.round(silentMs / 1000)} s`
  return html`<tr>
    <td>${machine}</td>
    <td>${state}</td>
    <td>${sessions.length}</td>
    <td>${takeovers}</td>
    <td>${silent}</td>
  </tr>`
}

function sessionRow({ sessionId, status, machine, staysWith, steps }: SessionRow) {
  const counts = Object.entries(steps).map(([name, count]) => `${name} ${count}`)
  return html`<tr>
    <td>${sessionId}</td>
    <td>${status}</td>
    <td>${machine}</td>
    <td>${staysWith}</td>
    <td>${counts.join(', ')}</td>
  </tr>`
}
