import { defineModule } from '../define-module.ts'
import { fileSystemConfigSchema } from './config.ts'
import type { FileSystem } from './contract.ts'
import { withFileSystemPolicy } from './policy/policy.ts'
import { appendFileTool } from './tools/append-file.ts'
import { applyPatchReadTool, applyPatchTool } from './tools/apply-patch.ts'
import { copyTool } from './tools/copy.ts'
import { editFileTool, editReadFileTool } from './tools/edit-file.ts'
import { globTool } from './tools/glob.ts'
import { grepTool } from './tools/grep.ts'
import { lsTool } from './tools/ls.ts'
import { mkdirTool } from './tools/mkdir.ts'
import { moveTool } from './tools/move.ts'
import { multiEditReadTool, multiEditTool } from './tools/multi-edit.ts'
import { readFileTool } from './tools/read-file.ts'
import { rmTool } from './tools/rm.ts'
import { statTool } from './tools/stat.ts'
import { writeFileTool, writeReadFileTool } from './tools/write-file.ts'

/** Files: nine tools, five more with `extended`. Of two forms of a tool one is available. */
export const fileSystemModule = defineModule<FileSystem>()({
  name: 'fs',
  configSchema: fileSystemConfigSchema,
  guard: withFileSystemPolicy,
  tools: [
    readFileTool,
    writeFileTool,
    writeReadFileTool,
    editFileTool,
    editReadFileTool,
    lsTool,
    globTool,
    grepTool,
    statTool,
    mkdirTool,
    rmTool,
    appendFileTool,
    copyTool,
    moveTool,
    multiEditTool,
    multiEditReadTool,
    applyPatchTool,
    applyPatchReadTool,
  ],
})
