import type { ModuleDefinition } from '../define-module.ts'
import { fileSystemConfigSchema } from './config.ts'
import type { FileSystem } from './contract.ts'
import { withFileSystemPolicy } from './policy/policy.ts'
import { appendFileTool } from './tools/append-file.ts'
import { applyPatchTool } from './tools/apply-patch.ts'
import { copyTool } from './tools/copy.ts'
import { editFileTool } from './tools/edit-file.ts'
import { globTool } from './tools/glob.ts'
import { grepTool } from './tools/grep.ts'
import { lsTool } from './tools/ls.ts'
import { mkdirTool } from './tools/mkdir.ts'
import { moveTool } from './tools/move.ts'
import { multiEditTool } from './tools/multi-edit.ts'
import { readFileTool } from './tools/read-file.ts'
import { rmTool } from './tools/rm.ts'
import { statTool } from './tools/stat.ts'
import { writeFileTool } from './tools/write-file.ts'

/** Files: nine tools, five more with `extended`. */
export const fileSystemModule: ModuleDefinition<'fs', FileSystem, typeof fileSystemConfigSchema> = {
  name: 'fs',
  configSchema: fileSystemConfigSchema,
  reads: [
    'readFile',
    'ls',
    'glob',
    'grep',
    'stat',
    'readStream',
    'readText',
    'realPath',
    'watch',
    'withoutLinks',
    'readLink',
    'readMode',
    'readAhead',
  ],
  guard: withFileSystemPolicy,
  tools: [
    readFileTool,
    writeFileTool,
    editFileTool,
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
    applyPatchTool,
  ],
}
