#!/usr/bin/env node
/**
 * An agent that reports in text: reads its order from the environment and writes `work_result.txt`, header lines first.
 *
 *   wrappers: { 'text-agent': { type: 'script', command: ['node', 'text-agent.mjs'], inject: 'env' } }
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { SLUICE_ISSUE_REF, SLUICE_RUN_ID, SLUICE_RUN_DIR } = process.env;
const file = join(SLUICE_RUN_DIR, 'work_result.txt');
const lines = [
  `IssueRef: ${SLUICE_ISSUE_REF}`,
  `RunId: ${SLUICE_RUN_ID}`,
  'Status: ok',
  `PR: https://example.org/pull/${SLUICE_RUN_ID}`,
  'Tests: n/a',
  '',
  'Proposed a wording for the greeting. There is nothing to test in a text.',
];
writeFileSync(`${file}.new`, `${lines.join('\n')}\n`);
renameSync(`${file}.new`, file);
