#!/usr/bin/env node
/**
 * An agent that prints the file `BENCH_LOG` `BENCH_TIMES` times, at `BENCH_RATE` bytes a second or as fast as the pipe
 * accepts it. Arguments are ignored, so it can replace any engine's executable.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

if (process.argv.includes('--version')) {
  console.log('codex-cli 0.166.0');
  process.exit(0);
}
const log = readFileSync(process.env['BENCH_LOG'] ?? '');
const times = Number(process.env['BENCH_TIMES'] ?? '1');
const rate = Number(process.env['BENCH_RATE'] ?? 'Infinity');
const CHUNK = 65_536;

/** Resolves when the pipe has accepted the chunk. */
const print = promisify(process.stdout.write.bind(process.stdout));

const start = performance.now();
let sent = 0;
for (let round = 0; round < times; round++) {
  for (let offset = 0; offset < log.length; offset += CHUNK) {
    const chunk = log.subarray(offset, offset + CHUNK);
    await print(chunk);
    sent += chunk.length;
    const ahead = (sent / rate) * 1000 - (performance.now() - start);
    if (ahead > 1) await sleep(ahead);
  }
}
await print('{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}\n');
