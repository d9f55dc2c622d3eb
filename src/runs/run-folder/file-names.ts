import type { CapturedStream } from '../../events/index.js';

/** The subfolder with Sluice's records. The agent may write anywhere else in a run folder. */
export const AUDIT_FOLDER = '.audit';

/** The folder in a packed run for the files that the run changed in its working folder. */
export const ARTIFACT_FOLDER = '.artifacts';

/** The files of an attempt, in write order: bytes come before their timing. */
export const ATTEMPT_FILES = {
  meta: ['meta', 'json'],
  stdin: ['stdin', 'log'],
  stdout: ['stdout', 'log'],
  stderr: ['stderr', 'log'],
  pty: ['pty-output', 'log'],
  fsDiff: ['fs-diff', 'json'],
  timing: ['timing', 'jsonl'],
} as const;

export type AttemptFile = keyof typeof ATTEMPT_FILES;

/** A run's logs, across all its attempts. */
export const RUN_LOGS = { rasp: 'events.jsonl', fcmp: 'fcmp.jsonl', diagnostics: 'parser_diagnostics.jsonl' } as const;

export type RunLog = keyof typeof RUN_LOGS;

export function getAttemptFileName(file: AttemptFile | CapturedStream, attempt: number): string {
  const [stem, extension] = ATTEMPT_FILES[file];
  return `${stem}.${attempt}.${extension}`;
}

/** Returns the attempt number in the name of an output or meta file, or undefined for other files. */
export function parseAttempt(fileName: string): number | undefined {
  const match = /^(?:(?:stdout|stderr|pty-output)\.([1-9]\d{0,5})\.log|meta\.([1-9]\d{0,5})\.json)$/.exec(fileName);
  const digits = match?.[1] ?? match?.[2];
  return digits === undefined ? undefined : Number(digits);
}
