#!/usr/bin/env node
/**
 * Replays a recording of a real agent at its original pace: `node replay.mjs FOLDER ARGS…`. The folder
 * has its streams, their timing, and its exit code. A recording for an order also has `files` to write, and the placeholders
 * `{issue_ref}` and `{run_id}` in its result.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder = '.', ...args] = process.argv.slice(2);
const recording = JSON.parse(readFileSync(`${folder}/recording.json`, 'utf8'));

if (args.includes('--version')) console.log(recording.version);
else await play();

async function play() {
  const bytes = { stdout: readFileSync(`${folder}/stdout.1.log`), stderr: readFileSync(`${folder}/stderr.1.log`) };
  const played = { stdout: 0, stderr: 0 };
  const rows = readFileSync(`${folder}/timing.1.jsonl`, 'utf8').split('\n').filter(Boolean);
  for (const [path, text] of Object.entries(recording.files ?? {})) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const start = Date.now();
  for (const row of rows) {
    const { ms, stream, bytes: count } = JSON.parse(row);
    await sleep(Math.max(0, ms - (Date.now() - start)));
    print(stream, bytes[stream].subarray(played[stream], played[stream] + count));
    played[stream] += count;
  }
  for (const stream of ['stdout', 'stderr']) print(stream, bytes[stream].subarray(played[stream]));
  process.exitCode = recording.exit_code;
}

function print(stream, bytes) {
  if (recording.files === undefined) return process[stream].write(bytes);
  const { SLUICE_ISSUE_REF = '', SLUICE_RUN_ID = '' } = process.env;
  const text = bytes.toString('utf8');
  return process[stream].write(text.replaceAll('{issue_ref}', SLUICE_ISSUE_REF).replaceAll('{run_id}', SLUICE_RUN_ID));
}
