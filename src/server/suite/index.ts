export { listCases, openCase, writeCase } from './case-folder.js';
export { makeFolderCase, makeRunCase, makeTextCase, type NewCase } from './make-case.js';
export { acceptCases, runSuite, type CaseReport } from './run-suite.js';
export { describeChange, renderJunit } from './junit.js';
