#!/usr/bin/env node
/**
 * An agent that writes no result file and only prints. Whatever it claims, a human decides.
 *
 *   wrappers: { 'print-only-agent': { type: 'script', command: ['node', 'print-only-agent.mjs'], inject: 'env' } }
 */
const { SLUICE_ISSUE_REF, SLUICE_RUN_ID } = process.env;
console.log('Looking at the issue…');
console.log(`IssueRef: ${SLUICE_ISSUE_REF}`);
console.log(`RunId: ${SLUICE_RUN_ID}`);
console.log('Status: ok');
console.log('All done, trust me.');
