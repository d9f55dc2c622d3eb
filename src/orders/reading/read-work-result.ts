import { join } from 'node:path';
import { checkCommit } from '../evidence/check-commit.js';
import { isPresent } from '../../files/index.js';
import type { Problem, Reading, WorkOrder } from '../../records/index.js';
import { decodeText } from './decode-text.js';
import { readJsonResult } from './read-json-result.js';
import type { ResultReading } from './read-json-result.js';
import { readStreams } from './read-streams.js';
import { readTextResult } from './read-text-result.js';
import { readResultFile } from './result-file.js';

/** Where a result may be. */
export interface ResultPlace {
  /** The run folder. */
  readonly dir: string;
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  readonly order: Pick<WorkOrder, 'repo_dir'>;
  /** When the worker was started: a file older than that is not its result. */
  readonly startedAt?: Date | number | string;
  /** Takes out of a file's text what must not go on from here. */
  readonly maskText?: (text: string) => string;
}

const FILES = [
  { source: 'json', name: 'work_result.json', read: readJsonResult },
  { source: 'text', name: 'work_result.txt', read: readTextResult },
] as const;

/**
 * Reads what a worker reported, in a fixed order: `work_result.json`, `work_result.txt`, what it printed. The first that
 * is there counts, readable or not: a broken file is never made good by a lesser one.
 *
 * @example
 * const reading = await readWorkResult({ dir, stdout, stderr, order })
 * if (reading.result?.status === 'ok' && reading.problems.length === 0) console.log(reading.source)
 */
export async function readWorkResult(place: ResultPlace): Promise<Reading> {
  const { dir, order, startedAt, maskText = (text: string) => text } = place;
  const notices: Problem[] = [];
  for (const { source, name, read } of FILES) {
    const file = await readResultFile(
      join(dir, name),
      startedAt === undefined ? undefined : new Date(startedAt).getTime(),
    );
    if (file.status === 'absent') continue;
    if (file.status === 'outdated') {
      notices.push({ code: 'RESULT_OUTDATED', message: `${name} was there before the run began; it is left aside` });
      continue;
    }
    const reading =
      file.status === 'unreadable'
        ? { problems: [file.problem] }
        : readBytes(file.bytes, (text) => read(maskText(text)));
    if (source === 'json' && (await isPresent(join(dir, 'work_result.txt')))) {
      notices.push({ code: 'RESULT_SHADOWED', message: 'work_result.txt is there too; work_result.json counts' });
    }
    return withNotices(await withCommitChecked({ source, path: name, ...reading }, order), notices);
  }
  return withNotices(readStreams(place), notices);
}

function readBytes(bytes: Uint8Array, read: (text: string) => ResultReading): ResultReading {
  const { text, problem } = decodeText(bytes);
  return problem === undefined ? read(text) : { problems: [problem] };
}

async function withCommitChecked(reading: Reading, order: ResultPlace['order']): Promise<Reading> {
  const commit = reading.result?.changes.commit;
  if (commit === undefined) return reading;
  const { problem, notice } = await checkCommit(order.repo_dir, commit);
  if (notice !== undefined) return withNotices(reading, [notice]);
  if (problem === undefined) return reading;
  // Who is blocked owes no commit, so a wrong one is worth knowing and no reason to ask a person.
  if (reading.result?.status === 'blocked') return withNotices(reading, [problem]);
  return { ...reading, problems: [...reading.problems, problem] };
}

function withNotices(reading: Reading, notices: readonly Problem[]): Reading {
  return notices.length === 0 ? reading : { ...reading, notices: [...(reading.notices ?? []), ...notices] };
}
