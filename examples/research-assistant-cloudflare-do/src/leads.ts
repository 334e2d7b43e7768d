/** One thing to look into: what to search, what to read, and the note that comes of it. */
export interface Lead {
  readonly says: string
  readonly query: string
  readonly reads: readonly string[]
  readonly note: {
    readonly path: string
    readonly says: string
    /** Words of the documents: the script fails when they do not stand there. */
    readonly quotes: readonly { readonly from: string; readonly text: string }[]
    readonly finding: string
  }
}

/** How the scripted model goes about the question of README.md. */
export const leads: readonly Lead[] = [
  {
    says: 'I write the question down. Then: how large is the loss?',
    query: 'yield row C loss',
    reads: ['yield-report-2032', 'yield-report-2034'],
    note: {
      path: '/findings/1-loss.md',
      says: 'The loss is real and only in row C. The operator suspects fouling: I check that.',
      quotes: [
        { from: 'yield-report-2032', text: 'row C 10.2 GWh' },
        { from: 'yield-report-2034', text: 'Row C delivered 8.7 GWh' },
        { from: 'yield-report-2034', text: 'autumn of 2033' },
      ],
      finding: 'Row C fell from 10.2 to 8.7 GWh, 15 %, in the autumn of 2033; the others did not.',
    },
  },
  {
    says: 'Fouling first.',
    query: 'fouling of the blades',
    reads: ['fouling-inspection-2034', 'turbine-datasheet'],
    note: {
      path: '/findings/2-fouling.md',
      says: 'It is not fouling. Is the number itself right?',
      quotes: [
        { from: 'fouling-inspection-2034', text: 'it is the same in all rows' },
        { from: 'turbine-datasheet', text: 'more than a tenth of a blade' },
      ],
      finding: 'Fouling explains less than 1 %: it is low, and the same in all rows.',
    },
  },
  {
    says: 'Who measures, and how well?',
    query: 'calibration of the energy meter',
    reads: ['meter-calibration-2034'],
    note: {
      path: '/findings/3-meter.md',
      says: 'One of the fifteen percent was never lost. The rest must come from the water itself.',
      quotes: [{ from: 'meter-calibration-2034', text: 'reads 1 % too low' }],
      finding: 'One percent was delivered but not counted: the meter of row C reads too low.',
    },
  },
  {
    says: 'Has the current changed?',
    query: 'current at row C survey sandbank',
    reads: ['site-survey-2029', 'bathymetry-2034'],
    note: {
      path: '/findings/4-current.md',
      says: 'A sandbank has come close, and the current is slower. Why does it move after 70 years?',
      quotes: [
        { from: 'site-survey-2029', text: '900 m south of row C' },
        { from: 'bathymetry-2034', text: '5 % slower than in 2029' },
      ],
      finding:
        'The Mare, a sandbank, came from 900 to 350 m; the current is 5 % slower, which costs 14 %.',
    },
  },
  {
    says: 'What was built nearby in 2033?',
    query: 'harbour breakwater works, ferry, 2033',
    reads: ['breakwater-works', 'ferry-wake-study'],
    note: {
      path: '/findings/5-cause.md',
      says: 'That fits in time and in place; the ferry does not. What can be done?',
      quotes: [
        { from: 'breakwater-works', text: 'finished in September 2033' },
        { from: 'ferry-wake-study', text: 'No effect on the turbines was measured' },
      ],
      finding: 'The breakwater of Tarn Head, finished in September 2033, sends sand to the Mare.',
    },
  },
  {
    says: 'The remedies.',
    query: 'sandbank dredging cost, licence of the array',
    reads: ['remedy-options', 'array-overview'],
    note: {
      path: '/findings/6-remedies.md',
      says: 'I have what I need. Before I write the report I look at my notes.',
      quotes: [
        {
          from: 'remedy-options',
          text: 'A sill at the breakwater head costs 2.0 million euro once',
        },
        { from: 'array-overview', text: 'licence ends in 2056' },
      ],
      finding:
        'A sill for 2.0 million euro pays back in 12 of the 22 years left; dredging for 275 000 a year never does.',
    },
  },
]
