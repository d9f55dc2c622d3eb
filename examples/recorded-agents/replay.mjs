#!/usr/bin/env node
/**
 * Plays a recording of a real agent at its own pace, in the place of the agent: `node replay.mjs FOLDER ARGS…`. The folder
 * has its streams, which bytes came when, and how it ended.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder = '.', ...args] = process.argv.slice(2);
const recording = JSON.parse(readFileSync(`${folder}/recording.json`, 'utf8'));

if (args.includes('--version')) console.log(recording.version);
else await play();

async function play() {
  const bytes = { stdout: readFileSync(`${folder}/stdout.1.log`), stderr: readFileSync(`${folder}/stderr.1.log`) };
  const played = { stdout: 0, stderr: 0 };
  const rows = readFileSync(`${folder}/timing.1.jsonl`, 'utf8').split('\n').filter(Boolean);
  const began = Date.now();
  for (const row of rows) {
    const { ms, stream, bytes: count } = JSON.parse(row);
    await sleep(Math.max(0, ms - (Date.now() - began)));
    process[stream].write(bytes[stream].subarray(played[stream], played[stream] + count));
    played[stream] += count;
  }
  for (const stream of ['stdout', 'stderr']) process[stream].write(bytes[stream].subarray(played[stream]));
  process.exitCode = recording.exit_code;
}
