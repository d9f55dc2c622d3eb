export { SUITE_ERROR_CODES, SuiteError, type SuiteErrorCode } from './suite-error.js';
export { checkCaseName, listCases, openCase, writeCase, type CaseFile, type OpenCase } from './case-folder.js';
export type { Assessment, CaseVerdict, SuiteCase } from './case-record.js';
export { makeFolderCase, makeRunCase, makeTextCase, type MadeCase } from './make-case.js';
export { acceptCases, runSuite, type CaseReport } from './run-suite.js';
export { describeChange, renderJunit } from './junit.js';
