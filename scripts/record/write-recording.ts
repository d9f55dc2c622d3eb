import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIT_FOLDER, getAttemptFileName } from '../../src/runs/run-folder/index.js';
import { parseTimingLine } from '../../src/runs/run-folder/attempt/attempt-chunks.js';
import { scrub, type Scrubbed } from './scrub.js';

/** A recording's metadata, besides its run folder. */
export interface RecordingLabel {
  readonly scenario: string;
  readonly format: string;
}

/**
 * Copies a run folder's attempts into a recordings folder, and replaces the first string of each pair with the second.
 */
export function writeRecording(
  runDir: string,
  folder: string,
  label: RecordingLabel,
  pairs: readonly (readonly [string, string])[],
): void {
  mkdirSync(folder, { recursive: true });
  for (let attempt = 1; existsSync(getFile('meta', attempt)); attempt += 1) {
    const streams = { stdout: readScrubbed('stdout', attempt), stderr: readScrubbed('stderr', attempt) };
    write('stdout', attempt, streams.stdout.bytes);
    write('stderr', attempt, streams.stderr.bytes);
    write('timing', attempt, formatTiming(readFileSync(getFile('timing', attempt), 'utf8'), streams));
    write('fsDiff', attempt, readFileSync(getFile('fsDiff', attempt)));
    const meta = JSON.parse(readScrubbed('meta', attempt).bytes.toString()) as Record<string, unknown>;
    const { engine, version, command, exit_code, signal, started_at, finished_at } = meta;
    const recorded = { engine, version, command, ...label, turn: attempt, exit_code, signal, started_at, finished_at };
    write('meta', attempt, `${JSON.stringify(recorded, null, 2)}\n`);
  }

  function getFile(file: RecordedFile, attempt: number): string {
    return join(runDir, AUDIT_FOLDER, getAttemptFileName(file, attempt));
  }

  function readScrubbed(file: RecordedFile, attempt: number): Scrubbed {
    // A stream without output has no file.
    const path = getFile(file, attempt);
    return scrub(existsSync(path) ? readFileSync(path) : Buffer.alloc(0), pairs);
  }

  function write(file: RecordedFile, attempt: number, content: string | Buffer): void {
    writeFileSync(join(folder, getAttemptFileName(file, attempt)), content);
  }
}

type RecordedFile = 'stdout' | 'stderr' | 'timing' | 'fsDiff' | 'meta';

/** Rewrites the timing with the offsets and lengths after the replacements. */
function formatTiming(text: string, streams: Readonly<Record<'stdout' | 'stderr', Scrubbed>>): string {
  const rows = text.split('\n').flatMap((line) => {
    const row = parseTimingLine(line);
    if (row === undefined || row.stream === 'pty' || row.stream === 'stdin') return [];
    const { moveOffset } = streams[row.stream];
    const offset = moveOffset(row.offset);
    const bytes = moveOffset(row.offset + row.bytes) - offset;
    return bytes === 0 ? [] : [JSON.stringify({ ms: row.ms, stream: row.stream, offset, bytes })];
  });
  return rows.map((row) => `${row}\n`).join('');
}
