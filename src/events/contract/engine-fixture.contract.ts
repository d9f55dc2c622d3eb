import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FsDiff } from '../end/artifacts.js';
import type { AttemptEnd } from '../end/attempt-end.js';
import type { Emitted } from '../protocol/translator-output.js';
import { createTranslator } from '../translator.js';
import type { TranslatorOptions } from '../engines/engine.js';
import type { Translator } from '../translator.js';

/** Bytes that arrived on a stream together. */
export interface RecordedPush {
  readonly stream: 'stdout' | 'stderr' | 'stdin';
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

/** One recorded execution of an agent. */
interface RecordedAttempt {
  readonly number: number;
  readonly pushes: readonly RecordedPush[];
  readonly terminal: Uint8Array;
  readonly end: AttemptEnd;
  readonly endMs: number;
}

/** A recorded scenario: one attempt, or multiple attempts in the same session. */
export interface Fixture {
  /** `<version>/<scenario>`. */
  readonly name: string;
  readonly folder: string;
  readonly attempts: readonly RecordedAttempt[];
}

/** Reads the recordings under `fixtures/<version>/<scenario>/`. */
export function readFixtures(root: URL): readonly Fixture[] {
  const base = fileURLToPath(root);
  const versions = readdirSync(base, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return versions.flatMap((version) =>
    readdirSync(`${base}/${version.name}`).map((scenario) => {
      const folder = `${base}/${version.name}/${scenario}`;
      const numbers = [1, 2, 3].filter((number) => existsSync(`${folder}/meta.${number}.json`));
      const attempts = numbers.map((number) => readAttempt(folder, number));
      return { name: `${version.name}/${scenario}`, folder, attempts };
    }),
  );
}

/** Translates all attempts of a fixture, each push cut by `cut`. */
export function translateFixture(
  fixture: Fixture,
  engine: TranslatorOptions['engine'],
  cut: (bytes: Uint8Array) => readonly Uint8Array[] = (bytes) => [bytes],
): { readonly emitted: readonly Emitted[]; readonly translators: readonly Translator[] } {
  const emitted: Emitted[] = [];
  const translators: Translator[] = [];
  let sessionId: string | undefined;
  for (const attempt of fixture.attempts) {
    let now = 0;
    const translator = createTranslator({
      engine,
      runId: 'run-1',
      attempt: attempt.number,
      fcmpSeq: emitted.filter(({ protocol }) => protocol === 'fcmp').length,
      sessionId,
      clock: () => now,
    });
    for (const push of attempt.pushes) {
      now = push.atMs;
      for (const chunk of cut(push.bytes)) emitted.push(...translator.push(push.stream, chunk));
    }
    now = attempt.endMs;
    emitted.push(...translator.end(attempt.end));
    translators.push(translator);
    sessionId = emitted.at(-1)?.event.correlation.session_id;
  }
  return { emitted, translators };
}

function readAttempt(folder: string, number: number): RecordedAttempt {
  const meta = readJson(`${folder}/meta.${number}.json`) as Record<string, string | number | null>;
  const startMs = Date.parse(String(meta['started_at']));
  const fsDiff = existsSync(`${folder}/fs-diff.${number}.json`)
    ? (readJson(`${folder}/fs-diff.${number}.json`) as FsDiff)
    : undefined;
  return {
    number,
    pushes: readPushes(folder, number, startMs),
    terminal: readBytes(`${folder}/pty-output.${number}.log`),
    end: {
      exitCode: Number.isInteger(meta['exit_code']) ? Number(meta['exit_code']) : null,
      signal: readSignal(meta),
      fsDiff,
    },
    endMs: Date.parse(String(meta['finished_at'])),
  };
}

function readSignal(meta: Record<string, string | number | null>): string | null {
  return typeof meta['signal'] === 'string' ? meta['signal'] : null;
}

/** Uses only the order and the number of bytes from the timing; its offsets are hints. */
function readPushes(folder: string, number: number, startMs: number): readonly RecordedPush[] {
  const rest = {
    stdin: readBytes(`${folder}/stdin.${number}.log`),
    stdout: readBytes(`${folder}/stdout.${number}.log`),
    stderr: readBytes(`${folder}/stderr.${number}.log`),
  };
  const pushes: RecordedPush[] = [];
  const take = (stream: RecordedPush['stream'], length: number, atMs: number): void => {
    const bytes = rest[stream].subarray(0, length);
    rest[stream] = rest[stream].subarray(length);
    if (bytes.length > 0) pushes.push({ stream, bytes, atMs });
  };
  for (const row of readLines(`${folder}/timing.${number}.jsonl`)) {
    const { stream, bytes, ms } = JSON.parse(row) as { stream: RecordedPush['stream']; bytes: number; ms: number };
    take(stream, bytes, startMs + ms);
  }
  for (const stream of ['stdout', 'stderr'] as const) take(stream, rest[stream].length, pushes.at(-1)?.atMs ?? startMs);
  return pushes;
}

function readLines(file: string): readonly string[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

function readBytes(file: string): Uint8Array {
  return existsSync(file) ? new Uint8Array(readFileSync(file)) : new Uint8Array(0);
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
