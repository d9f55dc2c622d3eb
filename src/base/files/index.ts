export { VERSION } from './package-version.js';
export { chooseDataFolder, findDataFolder, findProjectData, findUserFolder } from './data-folder.js';
export {
  makeFolder,
  removeFolder,
  prepareDataFolder,
  chooseFolder,
  listFirstNames,
  listNames,
  isPresent,
} from './folders.js';
export { replaceFile, beginReplacement, syncFolder, type Replacement } from './replace-file.js';
export {
  openForReading,
  openForAppending,
  readSmallFile,
  openNew,
  readChunks,
  readSpan,
  isWithin,
  openInside,
  getSizeInside,
  parseJson,
} from './safe-file.js';
export { makeFolderBelow, requireRealFolder, withFolder } from './safe-folder.js';
export { openFileTail, type FileTail, openLineTail } from './file-tail.js';
export { findExecutable } from './find-executable.js';
