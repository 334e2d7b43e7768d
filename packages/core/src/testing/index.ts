export { ManualClock } from './manual-clock.ts'
export { type LogLine, RecordingLogger } from './recording-logger.ts'
export { createRecordingMetrics, type RecordedMetrics } from './recording-metrics.ts'
export { type SamplingEnvironment, TestSampler } from './test-sampler.ts'
