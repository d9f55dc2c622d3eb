import { setTimeout as sleep } from 'node:timers/promises';
import { get, isRecord, RAW_STREAMS, STREAMS, type CapturedStream, type StreamName } from '../../../events/index.js';
import type { RunFolderWarning } from '../run-folder-error.js';
import { openFileTail, openLineTail, parseJson, type FileTail } from '../../../base/files/index.js';
import type { RunFolder } from '../open-run-folder.js';

/** Bytes of a stream, and when they arrived, in milliseconds since the attempt started; null if unknown. */
export interface Chunk {
  readonly ms: number | null;
  readonly stream: CapturedStream;
  readonly bytes: Uint8Array;
}

/** A warning about an attempt's bytes, which is also reported as an event. */
export interface ChunkWarning extends RunFolderWarning {
  readonly code: 'INTERLEAVING_UNKNOWN' | 'TIMING_INCONSISTENT';
}

export interface Following {
  /** Returns true once the attempt will write nothing more. */
  hasEnded(): Promise<boolean>;
  readonly signal: AbortSignal;
}

/** The interval for polling a growing folder: short enough to go unnoticed, long enough to cost little. */
export const POLL_MS = 100;

/**
 * Reads the recorded bytes of an attempt, each once, interleaved according to `timing.N.jsonl`. Its offsets are hints:
 * even if they are wrong, each stream is complete and in order, and bytes they do not cover come at the end. Without
 * timing the order is stdout, stderr, terminal. The agent's input is included only if the timing lists it: a prompt
 * that was passed at the start is not part of a conversation. Memory use does not grow with the logs.
 */
export async function* readAttemptChunks(
  folder: RunFolder,
  attempt: number,
  warn: (warning: ChunkWarning) => void,
  following?: Following,
): AsyncGenerator<Chunk> {
  const timing = openLineTail(async () => folder.openAttempt('timing', attempt), MAX_TIMING_LINE_BYTES);
  const tails = {
    stdout: openFileTail(async () => folder.openAttempt('stdout', attempt)),
    stderr: openFileTail(async () => folder.openAttempt('stderr', attempt)),
    pty: openFileTail(async () => folder.openAttempt('pty', attempt)),
    stdin: openFileTail(async () => folder.openAttempt('stdin', attempt)),
  };
  try {
    const timedStreams = new Set<CapturedStream>();
    let invalidLines = 0;
    for (let passes = 1; ; passes += 1) {
      const isOver = following === undefined || (await following.hasEnded());
      for (let line = await timing.next(); line !== undefined; line = await timing.next()) {
        if (line.text?.trim() === '') continue;
        const entry = parseTimingLine(line.text ?? '');
        if (entry === undefined) {
          invalidLines += 1;
          continue;
        }
        timedStreams.add(entry.stream);
        yield* readUpTo(tails[entry.stream], entry.offset + entry.bytes, entry.stream, entry.ms);
      }
      if (following?.signal.aborted === true) return;
      if (isOver) break;
      // A writer might create the timing file only with its first line, so output without timing waits for the second
      // pass.
      if (!timing.exists && passes > 1) yield* readEverything(tails);
      await sleep(POLL_MS, undefined, { signal: following.signal }).catch(() => undefined);
    }
    let uncovered = 0;
    for await (const chunk of readEverything(tails)) {
      // A terminal without any timing is compared with stdout at the end, so the position of its bytes does not matter.
      if (chunk.stream !== 'pty' || timedStreams.has('pty')) uncovered += chunk.bytes.length;
      yield chunk;
    }
    if (!timing.exists) {
      if (STREAMS.every((stream) => tails[stream].position === 0)) return;
      const message = `Attempt ${attempt} has no timing: stdout, stderr and the terminal are read one after another.`;
      warn({ code: 'INTERLEAVING_UNKNOWN', attempt, message });
    } else if (uncovered + invalidLines > 0) {
      const message =
        `The timing of attempt ${attempt} does not cover ${uncovered} bytes and has ${invalidLines} invalid lines; ` +
        'it is used as far as it fits.';
      warn({ code: 'TIMING_INCONSISTENT', attempt, message });
    }
  } finally {
    await Promise.all([timing, ...Object.values(tails)].map(async (file) => file.close()));
  }
}

async function* readEverything(tails: Record<StreamName, FileTail>): AsyncGenerator<Chunk> {
  for (const stream of STREAMS) yield* readUpTo(tails[stream], Number.MAX_SAFE_INTEGER, stream, null);
}

async function* readUpTo(
  tail: FileTail,
  end: number,
  stream: CapturedStream,
  ms: number | null,
): AsyncGenerator<Chunk> {
  while (tail.position < end) {
    const bytes = await tail.read(end - tail.position);
    if (bytes === undefined) return;
    yield { ms, stream, bytes };
  }
}

/** The maximum length of a timing line; a valid one has four short fields. */
const MAX_TIMING_LINE_BYTES = 4096;

/** Parses which bytes of which stream arrived when, in milliseconds since the attempt started. */
export function parseTimingLine(line: string) {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const [ms, offset, bytes] = [get.number(value, 'ms'), get.count(value, 'offset'), get.count(value, 'bytes')];
  const stream = RAW_STREAMS.find((name) => name === get.name(value, 'stream'));
  if (stream === undefined || ms === null || offset === null || bytes === null) return undefined;
  return ms >= 0 && ms <= MAX_MS ? { ms, stream, offset, bytes } : undefined;
}

/** A thousand years in milliseconds; a longer time, added to the start time, might not be a valid date. */
const MAX_MS = 1000 * 365 * 24 * 60 * 60 * 1000;
