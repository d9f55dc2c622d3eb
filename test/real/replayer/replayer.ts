/**
 * Replays a recorded attempt at its original pace: `IFLOW_REPLAY=FOLDER replayer ARGS…`. With `--resume` among the
 * arguments it replays the second attempt. Replaces an agent that is no longer available.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface RecordedMeta {
  readonly version: string;
  readonly exit_code: number | null;
  readonly signal: string | null;
}

interface TimingRow {
  readonly ms: number;
  readonly stream: 'stdout' | 'stderr';
  readonly offset: number;
  readonly bytes: number;
}

const folder = process.env['IFLOW_REPLAY'] ?? '.';
const attempt = process.argv.some((word) => word.startsWith('--resume')) ? 2 : 1;
const meta = JSON.parse(readFileSync(`${folder}/meta.${attempt}.json`, 'utf8')) as RecordedMeta;

if (process.argv.includes('--version')) process.stdout.write(`${meta.version}\n`);
else await play();

async function play(): Promise<void> {
  const streams = {
    stdout: readFileSync(`${folder}/stdout.${attempt}.log`),
    stderr: readFileSync(`${folder}/stderr.${attempt}.log`),
  };
  const lines = readFileSync(`${folder}/timing.${attempt}.jsonl`, 'utf8').split('\n');
  const started = Date.now();
  for (const line of lines.filter((text) => text !== '')) {
    const { ms, stream, offset, bytes } = JSON.parse(line) as TimingRow;
    await sleep(Math.max(0, ms - (Date.now() - started)));
    process[stream].write(streams[stream].subarray(offset, offset + bytes));
  }
  // If the recorded process was killed by a signal, waits for one, for at most a minute.
  if (meta.signal === null) process.exitCode = meta.exit_code ?? 0;
  else await sleep(60_000);
}
