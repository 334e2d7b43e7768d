import { type FleetStats, toPrometheusText } from '@helix-agents/sandbox-fleet'
import { expect, test } from 'vitest'

const stats: FleetStats = {
  environment: 'a "b"',
  active: 6,
  provisioning: 1,
  running: 2,
  detached: 3,
  terminating: 4,
  failed: 5,
  totalCreated: 70,
  totalDestroyed: 60,
  capacity: 100,
  usedRatio: 0.06,
  usage: { executions: 8, timeouts: 9 },
  lastCleanupAt: 1_700_000_000_500,
}

test('each count has a series of its own', () => {
  const lines = toPrometheusText(stats, []).split('\n')
  const environment = String.raw`environment="a \"b\""`
  expect(
    lines.filter((line) => line.startsWith('helix_fleet_') && !line.includes('alert')),
  ).toEqual([
    `helix_fleet_sandboxes{${environment},status="provisioning"} 1`,
    `helix_fleet_sandboxes{${environment},status="running"} 2`,
    `helix_fleet_sandboxes{${environment},status="detached"} 3`,
    `helix_fleet_sandboxes{${environment},status="terminating"} 4`,
    `helix_fleet_sandboxes{${environment},status="failed"} 5`,
    `helix_fleet_active{${environment}} 6`,
    `helix_fleet_capacity{${environment}} 100`,
    `helix_fleet_created_total{${environment}} 70`,
    `helix_fleet_destroyed_total{${environment}} 60`,
    `helix_fleet_window_executions{${environment}} 8`,
    `helix_fleet_window_timeouts{${environment}} 9`,
    `helix_fleet_last_cleanup_timestamp_seconds{${environment}} 1700000000.5`,
  ])
  expect(lines.slice(0, 3)).toEqual([
    '# HELP helix_fleet_sandboxes Sandboxes that are not terminated, by status.',
    '# TYPE helix_fleet_sandboxes gauge',
    expect.stringContaining('status="provisioning"'),
  ])
  expect(lines.at(-1)).toBe('')
})
