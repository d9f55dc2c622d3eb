export { VERSION } from './package-version.js';
export { chooseDataFolder, findDataFolder, findProjectData, findUserFolder, type DataFolder } from './data-folder.js';
export { makeFolder } from './make-folder.js';
export { replaceFile, beginReplacement, type Replacement } from './replace-file.js';
export { openForReading, openForAppending, requireOwnFolder, readSmallFile, openNew } from './safe-file.js';
export { openFileTail, type FileTail } from './file-tail.js';
export { openLineTail, type FileLine } from './line-tail.js';
export { parseJson } from './parse-json.js';
export { isPresent } from './is-present.js';
