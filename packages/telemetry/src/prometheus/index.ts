export { prometheusAlertRules } from './alert-rules.ts'
export {
  createPrometheusMetrics,
  type PrometheusMetrics,
  type PrometheusMetricsOptions,
} from './prometheus-metrics.ts'
