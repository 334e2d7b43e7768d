// The ledger
export type {
  KillReason,
  PendingDestroy,
  ResourceSample,
  LeaseRecord,
  SandboxError,
  SandboxHistoryEntry,
  SandboxKill,
  SandboxLabels,
  SandboxRecord,
  SandboxStatus,
} from './ledger/sandbox-record.ts'
export { isSandboxId, parseRecord, SANDBOX_STATUSES } from './ledger/record-schema.ts'
export { nextStatus, type SandboxEventType } from './ledger/lifecycle.ts'
export { activeOf, type FleetCounts } from './ledger/record-counts.ts'

// Stores
export type {
  DueQuery,
  FleetPage,
  FleetQuery,
  FleetStore,
  FleetUsage,
  LeaseFence,
  LeaseRequest,
} from './store/fleet-store.ts'
export { FLEET_SCHEMA_VERSION, migrateFleet } from './sql/fleet-schema.ts'
export { SqlFleetStore } from './sql/sql-fleet-store.ts'
export { MemoryFleetStore } from './store/memory-fleet-store.ts'

// Drivers
export type {
  DriverCallOptions,
  FleetDriver,
  ListedSandbox,
  ProbeState,
  SandboxListing,
  SandboxProbe,
  SandboxResources,
  SandboxTarget,
} from './driver/fleet-driver.ts'

// The fleet
export type { FleetEvent } from './fleet-context.ts'
export { fleetMessages } from './fleet-messages.ts'
export { Fleet, type FleetOptions, type SandboxUsage } from './fleet.ts'
export type { FleetContextOptions, FleetEventSink } from './fleet-options.ts'
export type { FleetStats } from './fleet-stats.ts'
export type { TickReport } from './fleet-tick.ts'
export { type FleetTimerOptions, startFleetTimer } from './fleet-timer.ts'
export {
  type FleetPolicy,
  type FleetPolicyInput,
  fleetPolicySchema,
  MIN_GRACE_MS,
  parseFleetPolicy,
} from './safety/fleet-policy.ts'

// Cleanup
export type {
  CleanupItem,
  CleanupOutcome,
  CleanupReport,
  PassOutcome,
} from './sweep/cleanup-report.ts'
export type { CleanupOptions } from './sweep/run-cleanup.ts'
export type { TerminateOutcome, TerminateRequest } from './sweep/terminate-sandbox.ts'
export type { CleanupMode, SpareReason } from './sweep/verdict.ts'
export type {
  ReconcileAction,
  ReconcileItem,
  ReconcileKind,
  ReconcileOutcome,
  ReconcileReport,
  RejectedListing,
} from './reconcile/reconcile-report.ts'
export type { ReconcileOptions } from './reconcile/run-reconcile.ts'

// Detection
export { diagnose, type DiagnoseContext } from './detect/diagnose.ts'
export type { Finding, FindingKind } from './detect/finding.ts'

// Admission
export type { Admission, AdmissionRequest, CreateSandbox } from './admission/admission.ts'
export type { RunOptions, SandboxLease } from './admission/sandbox-lease.ts'

// Reports of providers and runtimes
export type { FleetReporter, ReportedActivity } from './report/fleet-reporter.ts'
export type { HoldEnding, ReporterOptions } from './report/hold-warning.ts'
export {
  createLifecycleListener,
  type LifecycleListenerOptions,
  type ReportedProvider,
} from './report/lifecycle-listener.ts'
export {
  createReportingDirectory,
  type DirectorySandbox,
  type ReportingDirectory,
  type ReportingDirectoryOptions,
} from './report/sandbox-directory.ts'
export type { SandboxDescription } from './report/fleet-reporter.ts'

// Alerts
export {
  type Alert,
  type AlertName,
  type AlertPolicy,
  type AlertPolicyInput,
  alertPolicySchema,
  type AlertSink,
} from './alerts/alert.ts'
export {
  type AnalyticsDataset,
  analyticsSink,
  type FleetMeter,
  logAlertSink,
  meterEventSink,
  webhookAlertSink,
  type WebhookAlertSinkOptions,
} from './alerts/alert-sinks.ts'
export { toPrometheusText } from './alerts/prometheus.ts'

// HTTP
export { createFleetApp, type FleetApp, type FleetAppOptions } from './http/create-fleet-app.ts'
export type {
  WireFailure,
  WireFinding,
  WireLogs,
  WirePass,
  WireResources,
  WireSandbox,
  WireSandboxDetail,
  WireStats,
  WireTermination,
} from './http/wire.ts'
