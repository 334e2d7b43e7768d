/**
 * Prometheus alert rules for the four signals of a sick workspace layer, as a rules file. They
 * fit these metrics and those of OpenTelemetry through a Prometheus exporter. Which session it is
 * say `healthSignals` and the log: metrics have no session.
 */
export const prometheusAlertRules = `groups:
  - name: helix-workspaces
    rules:
      - alert: HelixWorkspaceFailed
        expr: sum by (workspace, provider) (helix_workspaces{state="failed"}) > 0
        for: 5m
        labels:
          severity: warning
        annotations:
          summary: 'Workspace {{ $labels.workspace }} stays failed'
      - alert: HelixWorkspaceUnsuccessful
        expr: |
          (
            sum by (workspace, provider) (increase(helix_workspace_open_failures_total[10m]))
            > 0
          )
          unless
          (
            sum by (workspace, provider) (increase(helix_workspace_opens_total[10m]))
            > 0
          )
        for: 2m
        labels:
          severity: warning
        annotations:
          summary: 'Workspace {{ $labels.workspace }} is tried and never opens'
      - alert: HelixWorkspaceEvicted
        expr: sum by (workspace, provider) (helix_workspaces{state="evicted"}) > 0
        for: 10m
        labels:
          severity: warning
        annotations:
          summary: 'Workspace {{ $labels.workspace }} stays evicted'
      - alert: HelixWorkspaceManyErrors
        expr: |
          count by (provider) (
            sum by (provider, code) (increase(helix_workspace_open_failures_total[10m])) > 0
          ) >= 3
        labels:
          severity: critical
        annotations:
          summary: 'Provider {{ $labels.provider }} fails in many ways at once'
`
