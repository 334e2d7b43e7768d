import arrayOverview from './documents/array-overview.md'
import bathymetry2034 from './documents/bathymetry-2034.md'
import breakwaterWorks from './documents/breakwater-works.md'
import ferryWakeStudy from './documents/ferry-wake-study.md'
import foulingInspection2034 from './documents/fouling-inspection-2034.md'
import meterCalibration2034 from './documents/meter-calibration-2034.md'
import remedyOptions from './documents/remedy-options.md'
import sealMonitoring from './documents/seal-monitoring.md'
import siteSurvey2029 from './documents/site-survey-2029.md'
import turbineDatasheet from './documents/turbine-datasheet.md'
import yieldReport2032 from './documents/yield-report-2032.md'
import yieldReport2034 from './documents/yield-report-2034.md'
import type { LibraryDocument } from './search.ts'

/** What the assistant researches in: a part of the Worker's bundle. */
export const library: readonly LibraryDocument[] = Object.entries({
  'array-overview': arrayOverview,
  'bathymetry-2034': bathymetry2034,
  'breakwater-works': breakwaterWorks,
  'ferry-wake-study': ferryWakeStudy,
  'fouling-inspection-2034': foulingInspection2034,
  'meter-calibration-2034': meterCalibration2034,
  'remedy-options': remedyOptions,
  'seal-monitoring': sealMonitoring,
  'site-survey-2029': siteSurvey2029,
  'turbine-datasheet': turbineDatasheet,
  'yield-report-2032': yieldReport2032,
  'yield-report-2034': yieldReport2034,
}).map(([id, text]) => ({ id, text, title: /^# (?<title>.+)/.exec(text)?.groups?.title ?? id }))
