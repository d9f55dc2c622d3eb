#!/usr/bin/env node
/**
 * An agent that reports in JSON: reads its order, adds a file, tries it, commits it, writes `work_result.json`.
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
  Changes: commit() ?? { PR: `https://example.org/pull/${order.run_id}` },
  Tests: { Command: `node ${program}`, Result: isRight ? 'pass' : 'fail', Evidence: `it printed: ${printed}` },
});

/** Commits the file; undefined if git is missing or this folder is not the root of a repository. */
function commit() {
  if (!existsSync('.git')) return undefined;
  const identity = ['-c', 'user.name=json-agent', '-c', 'user.email=json-agent@example.org'];
  try {
    git('add', '--', program);
    git(...identity, 'commit', '--quiet', '-m', `Add ${program}`);
    return { Commit: git('rev-parse', 'HEAD') };
  } catch {
    return undefined;
  }
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** Writes the result under another name and renames it, so no reader gets an incomplete file. */
function writeResult(result) {
  const file = join(process.env.SLUICE_RUN_DIR, 'work_result.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(result, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}
