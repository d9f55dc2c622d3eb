#!/usr/bin/env node
/**
 * An agent that reports in JSON: reads its order, adds a file, tries it, writes `work_result.json`. In a git repository
 * it works in its own worktree, and Sluice commits what it leaves there.
 *
 *   wrappers: { 'json-agent': { type: 'script', command: ['node', 'json-agent.mjs', '{work_order}'], inject: 'args' } }
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const orderFile = process.argv[2] ?? join(process.env.SLUICE_RUN_DIR, 'work_order.json');
const order = JSON.parse(readFileSync(orderFile, 'utf8'));

const program = 'greeting.mjs';
writeFileSync(program, `console.log('Hello from ${order.run_id}');\n`);
const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' }).trim();
const isRight = printed === `Hello from ${order.run_id}`;

writeResult({
  IssueRef: order.issue_ref,
  RunID: order.run_id,
  Status: isRight ? 'ok' : 'fail',
  Summary: `Added ${program}, which greets.`,
  Changes: existsSync('.git') ? {} : { PR: `https://example.org/pull/${order.run_id}` },
  Tests: { Command: `node ${program}`, Result: isRight ? 'pass' : 'fail', Evidence: `it printed: ${printed}` },
});

/** Writes the result under another name and renames it, so no reader gets an incomplete file. */
function writeResult(result) {
  const file = join(process.env.SLUICE_RUN_DIR, 'work_result.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(result, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}
