export { listCases, openCase, writeCase } from './case-folder.js';
export { makeFolderCase, makeRunCase, makeTextCase, type NewCase } from './make-case.js';
export { acceptCases, runSuite, type CaseReport, describeChange, renderJunit } from './run-suite.js';
