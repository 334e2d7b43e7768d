export { boundBehaviours } from './bound-behaviours.ts'
export { HOLD_TOLERANCE, MAX_HOLD_MS, MAX_PEAK_BYTES, type BoundBehaviour } from './bound-case.ts'
export { type BoundScale, SAMPLE_SCALE, WHOLE_SCALE } from './bound-scale.ts'
export {
  type BoundCall,
  type BoundFiles,
  type BoundPlants,
  type BoundRow,
  BoundSubject,
  type BoundTarget,
} from './bound-subject.ts'
export { renderBoundTable } from './bound-table.ts'
export { type BoundsSubject, defineBounds } from './define-bounds.ts'
export { createNodeWorkHost, type NodeProcess, type NodeWorkHostOptions } from './node-work-host.ts'
export {
  type MeasuredWork,
  measureLeastHold,
  measureWork,
  type WorkCost,
  type WorkHost,
} from './work-probe.ts'
