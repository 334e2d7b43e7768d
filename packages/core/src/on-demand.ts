// What a person is shown, and what is done with snapshots: one part, behind `door.ts`.
export { fileDiff } from './modules/fs/edit/file-diff.ts'
export { makePreview } from './permissions/make-preview.ts'
export { MAX_REDACTED, redactText } from './redaction/redact-text.ts'
export { restoreFiles } from './snapshot-store/restore-files.ts'
export { takeFiles } from './snapshot-store/take/take-files.ts'
