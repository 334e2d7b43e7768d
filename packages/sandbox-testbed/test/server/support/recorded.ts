/** The container server that a behaviour was recorded from, with the SDK beside it. */
export const RECORDED = 'recorded from server 0.12.7, SDK 0.12.10'
