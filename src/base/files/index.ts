export {
  VERSION,
  chooseDataFolder,
  findDataFolder,
  findProjectData,
  findUserFolder,
  findExecutable,
  makeFolder,
  removeFolder,
  prepareDataFolder,
  chooseFolder,
  listFirstNames,
  listNames,
  isPresent,
} from './folders.js';
export {
  replaceFile,
  beginReplacement,
  syncFolder,
  type Replacement,
  openForReading,
  openForAppending,
  appendTo,
  readSmallFile,
  openNew,
  readChunks,
  readSpan,
  isWithin,
  openInside,
  getSizeInside,
  parseJson,
} from './safe-file.js';
export { makeFolderBelow, withFolder } from './safe-folder.js';
export { openFileTail, type FileTail, openLineTail } from './file-tail.js';
