import { join } from 'node:path';
import { getErrorMessage, cutText, omitUndefined } from '../../base/index.js';
import { isPresent } from '../../base/files/index.js';
import { parse } from '../../json/index.js';
import { RESULT_STATUSES, isIssueRef, parseRunId } from '../../store/records/index.js';
import type { Problem, Reading, WorkOrder } from '../../store/records/index.js';
import { checkCommit, type CommitCheck } from '../git/examine-commit.js';
import { isNoneLike } from '../proof/missing-evidence.js';
import { showLine } from '../plain-text.js';
import { foldKey } from '../shapes/spelling.js';
import { normalizeResult } from './normalize-result.js';
import { RESULT_FIELDS, gatherChanges, isFields, readResultFields } from './result-fields.js';
import { readResultFile } from './result-file.js';

/** The sources of an agent's result, and how to read them. */
export interface ResultSource {
  /** The run folder. */
  readonly dir: string;
  /** The data folder, if it contains the run folder: no symbolic link between the two is followed. */
  readonly trustedRoot?: string | undefined;
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  /** The agent's answer and why it is not a result; its other output is then ignored. */
  readonly answer?: RejectedAnswer;
  readonly order: Pick<WorkOrder, 'repo_dir'>;
  /** When the agent was started: an older file is not its result. */
  readonly startedAt?: Date | number | string;
  /** All of the agent's processes have exited, so its files need not be checked a second time. */
  readonly hasEnded?: boolean | undefined;
  /** Masks secrets in a file's content. */
  readonly maskText?: (text: string) => string;
  /** Looks up a claimed commit; by default in the order's repository. */
  readonly findCommit?: (commit: string) => Promise<CommitCheck>;
}

/** An agent's answer that does not count as its result. */
export interface RejectedAnswer {
  readonly text: string;
  /** Why it does not count, as a clause. */
  readonly problem: string;
}

const FILES = [
  { source: 'json', name: 'work_result.json', read: readJsonResult },
  { source: 'text', name: 'work_result.txt', read: readTextResult },
] as const;

/**
 * Reads an agent's report from the first source that exists: `work_result.json`, `work_result.txt`, its output. The
 * first source counts, readable or not: a broken file never falls back to a less reliable source.
 *
 * @example
 * const reading = await readWorkResult({ dir, stdout, stderr, order })
 * if (reading.result?.status === 'ok' && reading.problems.length === 0) console.log(reading.source)
 */
export async function readWorkResult(from: ResultSource): Promise<Reading> {
  const { dir, trustedRoot, order, startedAt, maskText = (text: string) => text } = from;
  const notices: Problem[] = [];
  for (const { source, name, read } of FILES) {
    const file = await readResultFile(join(dir, name), {
      startedAt: startedAt === undefined ? undefined : new Date(startedAt).getTime(),
      hasEnded: from.hasEnded,
      trustedRoot,
    });
    if (file.status === 'absent') continue;
    if (file.status === 'outdated') {
      notices.push({ code: 'RESULT_OUTDATED', message: `${name} is older than the run and was ignored` });
      continue;
    }
    const reading = file.status === 'unreadable' ? { problems: [file.problem] } : read(maskText(file.text));
    if (source === 'json' && (await isPresent(join(dir, 'work_result.txt')))) {
      notices.push({ code: 'RESULT_SHADOWED', message: 'work_result.txt was ignored because work_result.json exists' });
    }
    const findCommit = from.findCommit ?? (async (commit: string) => checkCommit(order.repo_dir, commit));
    return withNotices(await withCommitChecked({ source, path: name, ...reading }, findCommit), notices);
  }
  return withNotices(readStreams(from), notices);
}

async function withCommitChecked(
  reading: Reading,
  findCommit: (commit: string) => Promise<CommitCheck>,
): Promise<Reading> {
  const commit = reading.result?.changes.commit;
  if (commit === undefined) return reading;
  const { problem, notice } = await findCommit(commit);
  if (notice !== undefined) return withNotices(reading, [notice]);
  if (problem === undefined) return reading;
  // A blocked agent needs no commit, so a wrong commit is a notice, not a reason to ask a human.
  if (reading.result?.status === 'blocked') return withNotices(reading, [problem]);
  return { ...reading, problems: [...reading.problems, problem] };
}

function withNotices(reading: Reading, notices: readonly Problem[]): Reading {
  return notices.length === 0 ? reading : { ...reading, notices: [...(reading.notices ?? []), ...notices] };
}

/** The part of a reading that comes from the result file itself. */
type ResultReading = Pick<Reading, 'result' | 'problems' | 'notices' | 'draft'>;

// A real result is not deeply nested; a malicious one can be, and drafts are stored.
const MAX_DEPTH = 64;

/** Reads `work_result.json` strictly. Content that has to be repaired is a draft, never a result. */
export function readJsonResult(text: string): ResultReading {
  const read = readStrictly(text);
  if (read.problems.length > 0) return { problems: read.problems, ...omitUndefined({ draft: draftFromText(text) }) };
  if (!isFields(read.value)) {
    return { problems: [{ code: 'RESULT_NOT_OBJECT', message: 'it is valid JSON, but not an object' }] };
  }
  const entries = Object.entries(read.value);
  return normalize(readResultFields(entries), () => draftFromFields(entries));
}

/** Normalizes the fields of a result file. A result that is not valid is a draft. */
function normalize(fields: Parameters<typeof normalizeResult>[0], createDraft: () => unknown): ResultReading {
  const reading = normalizeResult(fields);
  return reading.result === undefined ? { ...reading, ...omitUndefined({ draft: createDraft() }) } : reading;
}

/** Parses JSON like `JSON.parse`, but reports duplicate keys, where `JSON.parse` would silently use the last one. */
function readStrictly(text: string): { readonly value?: unknown; readonly problems: readonly Problem[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return createJsonProblem(getErrorMessage(error));
  }
  const parsed = parse(text, undefined, { profile: 'generic', detectDuplicates: true, limits: { depth: MAX_DEPTH } });
  if (!parsed.ok) return createJsonProblem(parsed.status === 'failed' ? parsed.error.message : 'it is a comment');
  const problems = parsed.warnings
    .filter(({ code }) => code === 'DUPLICATE_KEY')
    .map(({ path = [] }) => ({
      code: 'DUPLICATE_KEY',
      message: 'duplicate key; keep one of them',
      path: showLine(path.join('.'), 200),
    }));
  return { value, problems: problems.slice(0, 20) };
}

function createJsonProblem(message: string): { readonly problems: readonly Problem[] } {
  return { problems: [{ code: 'RESULT_NOT_JSON', message: `invalid JSON: ${showLine(message, 200)}` }] };
}

/** How much of a stream is searched, from its end: a result is printed last. */
export const STREAM_BYTES = 256 * 1024;

/** Searches the output for anchors and for a draft that a human can complete. Never returns a result. */
export function readStreams({
  stdout = '',
  stderr = '',
  answer,
}: Pick<ResultSource, 'stdout' | 'stderr' | 'answer'>): Reading {
  if (answer !== undefined) return readAnswer(answer);
  const printed = { stdout: readTail(stdout), stderr: readTail(stderr) };
  const missing = 'no work_result.json or work_result.txt found';
  return readPrinted(printed, missing, 'no result file found, and printed output does not count');
}

// More than fits into a comment; the rest is in the run's result.
const ANSWER_LENGTH = 65_536;

/** Searches an agent's answer for anchors and a draft, and includes it for the comment. */
function readAnswer({ text, problem }: RejectedAnswer): Reading {
  const reading = readPrinted({ answer: readTail(text) }, problem, problem);
  const full = text.trim();
  if (full === '') return reading;
  const answer_length = full.length > ANSWER_LENGTH ? full.length : undefined;
  return { ...reading, answer: cutText(full, ANSWER_LENGTH), ...omitUndefined({ answer_length }) };
}

/** Searches texts, the most reliable first. `missing` is the problem if no anchors are found, `unusable` if some are. */
function readPrinted(printed: Readonly<Record<string, string>>, missing: string, unusable: string): Reading {
  let anchors: NonNullable<Reading['anchors']> = {};
  let path: string | undefined;
  let draft: Readonly<Record<string, unknown>> | undefined;
  for (const [source, text] of Object.entries(printed)) {
    const found = findAnchors(text);
    if (Object.keys(found).length > 0) path ??= source;
    anchors = { ...found, ...anchors };
    draft ??= draftFromText(text);
  }
  if (path === undefined)
    return { source: 'none', problems: [{ code: 'RESULT_MISSING', message: missing }], ...omitUndefined({ draft }) };
  const problems = [{ code: 'ONLY_ANCHORS', message: unusable }];
  return { source: 'streams', path, anchors, problems, draft: { ...anchors, ...draft } };
}

function readTail(stream: string | Uint8Array): string {
  return typeof stream === 'string'
    ? stream.slice(-STREAM_BYTES)
    : new TextDecoder().decode(stream.subarray(Math.max(stream.length - STREAM_BYTES, 0)));
}

// `IssueRef: acme/shop#12`, `"run_id": "…"`, `status=ok`. All parts are bounded, so malicious output is searched in
// linear time.
const ANCHOR = /\b(issue_?ref|run_?id|status)["'`]?[ \t]{0,8}[:=][ \t]{0,8}["'`]?([^\s"'`,;}]{1,200})/gi;

/** Reads the value of each anchor, by its folded key; undefined if the value is not one. */
const READ_ANCHOR: Readonly<Record<string, (text: string) => NonNullable<Reading['anchors']>>> = {
  issueref: (text) => (isIssueRef(text) ? { issue_ref: text } : {}),
  runid: (text) => (parseRunId(text) === undefined ? {} : { run_id: text }),
  status: (text) => omitUndefined({ status: RESULT_STATUSES.find((status) => status === text.toLowerCase()) }),
};

/** Finds the issue, run and status printed in a stream; the last occurrence of each counts. */
export function findAnchors(text: string): NonNullable<Reading['anchors']> {
  const anchors: NonNullable<Reading['anchors']> = {};
  for (const [, key = '', value = ''] of text.matchAll(ANCHOR))
    Object.assign(anchors, READ_ANCHOR[foldKey(key)]?.(value));
  return anchors;
}

// A draft only fills in a form, so it can be short.
const DRAFT_LENGTH = 256 * 1024;
const MAX_LIST_LENGTH = 100;

/**
 * Creates a draft from an invalid result, for a human to complete, or undefined if nothing is readable. Because its
 * content was repaired, it is never used for a decision.
 */
function draftFromText(text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parse(text.slice(0, DRAFT_LENGTH), undefined, {
    allowPartial: true,
    limits: { depth: MAX_DEPTH, candidates: 16 },
  });
  return parsed.ok && isFields(parsed.value) ? draftFromFields(Object.entries(parsed.value)) : undefined;
}

/** Creates a draft from the known fields of an object that are strings, lists of strings or objects of strings. */
function draftFromFields(entries: Iterable<readonly [string, unknown]>): Readonly<Record<string, unknown>> | undefined {
  const { known } = gatherChanges(readResultFields(entries).known);
  const draftEntries = [...known].flatMap(([name, value]) => {
    const shallow = readShallow(value, name);
    return shallow === undefined ? [] : [[name, shallow] as const];
  });
  return draftEntries.length === 0 ? undefined : Object.fromEntries(draftEntries);
}

function readShallow(value: unknown, name: string): unknown {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string').slice(0, MAX_LIST_LENGTH);
  if (!isFields(value)) return undefined;
  const names = name === 'tests' ? ['command', 'result', 'evidence'] : ['pr', 'commit'];
  const { known } = readResultFields(Object.entries(value), names);
  return Object.fromEntries([...known].filter(([, entry]) => typeof entry === 'string'));
}

const MAX_HEADER_LINES = 100;
const HEADER = /^([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(.*)$/;
// The pattern is meant to match control characters.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029]/;
const NAMES = [...RESULT_FIELDS.filter((name) => name !== 'changes'), 'evidence'];

/**
 * Reads `work_result.txt`: `Key: Value` lines up to the first blank line after them, then free text, which is the
 * summary. Any other line or a duplicate key makes the header invalid; unknown keys are ignored.
 */
export function readTextResult(text: string): ResultReading {
  const allLines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const first = allLines.findIndex((line) => line.trim() !== '');
  const lines = allLines.slice(Math.max(first, 0));
  const blank = lines.findIndex((line) => line.trim() === '');
  const header = blank < 0 ? lines : lines.slice(0, blank);
  const body = (blank < 0 ? [] : lines.slice(blank + 1)).join('\n').trim();
  const problems: Problem[] = [];
  const fields = new Map<string, string>();
  if (header.length === 0 || header.length > MAX_HEADER_LINES) {
    problems.push(createHeaderProblem(`must start with 1 to ${MAX_HEADER_LINES} lines of the form Key: Value`));
  }
  for (const [index, line] of header.slice(0, MAX_HEADER_LINES).entries()) {
    const [, key, value] = HEADER.exec(line) ?? [];
    if (key === undefined || value === undefined || CONTROLS.test(line)) {
      const number = Math.max(first, 0) + index + 1;
      problems.push(createHeaderProblem(`line ${number} is not of the form Key: Value: ${showLine(line, 80)}`));
      continue;
    }
    const [name] = readResultFields([[key, value]], NAMES).known.keys();
    if (name === undefined) continue;
    if (fields.has(name))
      problems.push({ code: 'DUPLICATE_KEY', message: 'duplicate key; keep one of them', path: name });
    else fields.set(name, value.trim());
  }
  const resultFields = toResultFields(fields, body);
  const createDraft = () => draftFromFields(resultFields);
  if (problems.length > 0) return { problems: problems.slice(0, 20), ...omitUndefined({ draft: createDraft() }) };
  return normalize({ known: resultFields, conflicts: [] }, createDraft);
}

/** Converts the flat header to the shape of a result. */
function toResultFields(header: ReadonlyMap<string, string>, body: string): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>(header);
  for (const name of ['blocked_by', 'questions']) {
    const list = header.get(name);
    if (list !== undefined) fields.set(name, list.split(name === 'questions' ? ';' : /[,;]/));
  }
  const evidence = header.get('evidence');
  const tests = header.get('tests') ?? '';
  const arrow = tests.lastIndexOf('=>');
  if (evidence !== undefined && !isNoneLike(tests)) {
    const command = tests.slice(0, Math.max(arrow, 0)).trim();
    fields.set('tests', { command, result: tests.slice(arrow < 0 ? 0 : arrow + 2).trim(), evidence });
  }
  const summary = [header.get('summary') ?? '', body].filter((part) => part !== '').join('\n\n');
  if (summary !== '') fields.set('summary', summary);
  return fields;
}

function createHeaderProblem(message: string): Problem {
  return { code: 'HEADER_MALFORMED', message };
}
