import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorCode, listKeys, omitUndefined } from '../../base/index.js';
import { RESULT_FILES, choosePolicy, findWrapper, type Wrappers } from '../../orders/index.js';
import type { OrderRecord, RunRecord } from '../../store/records/index.js';
import { ATTEMPT_FILES, getAttemptFileName, RunFolderError } from '../../runs/run-folder/index.js';
import type { RunFile, RunFolder } from '../../runs/run-folder/index.js';
import type { Secrets, StoredContract } from '../../runs/index.js';
import { VERSION } from '../../base/files/index.js';
import { assessCase } from './run-suite.js';
import { CASE_BYTES, CASE_FILES, formatJson, readCaseFile, writeCase, type CaseFile } from './case-folder.js';
import { SuiteError, type Assessment, type CaseVerdict, type OrderFacts, type SuiteCase } from './case-record.js';
import type { OrderStore } from '../../store/ports/index.js';

export interface NewCase {
  readonly name: string;
  readonly files: readonly CaseFile[];
  readonly details: SuiteCase;
  readonly expected: Assessment;
}

interface CaseOptions {
  /** Masks secrets, which must not be in a repository. */
  readonly secrets: Pick<Secrets, 'mask'>;
  readonly clock: () => number;
  readonly note?: string | undefined;
  readonly verdict?: CaseVerdict | undefined;
}

export interface RunCaseOptions extends CaseOptions {
  readonly record: RunRecord;
  readonly folder: RunFolder;
  readonly store: Pick<OrderStore, 'findOrder' | 'listExecutions' | 'listInbox'>;
  readonly wrappers: Wrappers;
}

/** Creates a case from a recorded run: its bytes, its contract, and the user's decision. */
export async function makeRunCase(options: RunCaseOptions): Promise<NewCase> {
  const { record, store } = options;
  if (record.state !== 'ended') {
    throw new SuiteError('RUN_NOT_ENDED', `Run ${record.id} has not ended yet. Add it after it has ended.`);
  }
  const order = record.order === null ? undefined : await store.findOrder(record.order.issue_ref, record.order.run_id);
  const facts = order === undefined ? undefined : await gatherFacts(options, order);
  const verdict = options.verdict ?? (order === undefined ? undefined : await findVerdict(store, order));
  const { contract } = record.spec;
  return buildCase(
    { ...options, verdict },
    {
      name: facts === undefined ? record.id : suggestName(`${facts.issue_ref}-${facts.run_id}`),
      details: {
        kind: facts === undefined ? 'run' : 'order',
        run: record.id,
        engine: record.spec.engine,
        ...omitUndefined({ model: record.result?.model, order: facts }),
      },
      contract,
      files: [
        ...(await readAttemptFiles(options.folder)),
        ...(order === undefined || facts?.result_is_answer === true ? [] : await readResultFile(options.folder, order)),
      ],
    },
  );
}

/** Creates a case from a run folder that is not in the store, such as one created by `sluice run`. */
export async function makeFolderCase(
  options: CaseOptions & { readonly folder: RunFolder; readonly contract: StoredContract | undefined },
): Promise<NewCase> {
  const { folder } = options;
  const last = (await folder.attempts()).at(-1);
  const meta = last === undefined ? {} : await folder.meta(last);
  if (options.contract === undefined && meta.verdict !== undefined && CONTRACT_VERDICTS.has(meta.verdict)) {
    const message = `This run's answer was checked against a contract that is not in the run folder. Pass its schema with --schema.`;
    throw new SuiteError('CASE_INVALID', message);
  }
  return buildCase(options, {
    name: suggestName(folder.name),
    details: { kind: 'run', run: folder.name, ...omitUndefined({ engine: meta.engine }) },
    contract: options.contract,
    files: await readAttemptFiles(folder),
  });
}

/** Verdicts that are only possible with a contract. */
const CONTRACT_VERDICTS: ReadonlySet<string> = new Set(['validated', 'not_validated', 'comment']);

export async function makeTextCase(
  options: CaseOptions & { readonly text: string; readonly name: string; readonly contract: StoredContract },
): Promise<NewCase> {
  const { name, contract } = options;
  const files = [{ path: CASE_FILES.answer, bytes: Buffer.from(options.text) }];
  return buildCase(options, { name, details: { kind: 'text' }, contract, files });
}

interface CaseParts {
  readonly name: string;
  readonly details: Omit<SuiteCase, 'format' | 'added_at' | 'added_with' | 'contract' | 'verdict' | 'note'>;
  readonly contract: StoredContract | undefined;
  readonly files: readonly CaseFile[];
}

/** Masks everything, writes the case to a temporary folder, and assesses it there, as `sluice suite run` will. */
async function buildCase(
  { secrets, clock, note, verdict }: CaseOptions,
  { name, details, contract, files }: CaseParts,
): Promise<NewCase> {
  const { schema, ...rules } = contract ?? {};
  const record: SuiteCase = {
    format: 'sluice-suite/1',
    ...details,
    added_at: new Date(clock()).toISOString(),
    added_with: VERSION,
    ...(contract === undefined ? {} : { contract: rules }),
    ...omitUndefined({ verdict, note }),
  };
  const maskedFiles = [
    toFile(CASE_FILES.details, record),
    ...(schema === undefined ? [] : [toFile(CASE_FILES.schema, schema)]),
    // Git must not convert line endings of these files, or ignore them like other logs.
    { path: '.gitattributes', bytes: Buffer.from(`${CASE_FILES.run}/* -text\n${CASE_FILES.answer} -text\n`) },
    { path: '.gitignore', bytes: Buffer.from('!*\n') },
    ...files,
  ].map(({ path, bytes }) => ({ path, bytes: secrets.mask(bytes) }));
  const total = maskedFiles.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > CASE_BYTES) {
    const message = `The case would be ${total} bytes, but the limit is ${CASE_BYTES}. Add a shorter run, or copy this run with sluice export.`;
    throw new SuiteError('CASE_TOO_LARGE', message);
  }
  const expected = await assessFiles(maskedFiles, record, schema);
  const allFiles = [
    ...maskedFiles,
    { path: CASE_FILES.expected, bytes: secrets.mask(Buffer.from(formatJson(expected))) },
  ];
  return { name, files: allFiles, details: record, expected };
}

/** Converts a string to a valid case name: an issue can start with a dot, a folder name can have any characters. */
function suggestName(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9._-]+/g, '_').replace(/^[._-]+/, '');
  return name === '' ? 'case' : name.slice(0, 100);
}

function toFile(path: string, value: unknown): CaseFile {
  return { path, bytes: Buffer.from(formatJson(value)) };
}

async function assessFiles(
  files: readonly CaseFile[],
  details: SuiteCase,
  schema: Readonly<Record<string, unknown>> | undefined,
): Promise<Assessment> {
  const suite = await mkdtemp(join(tmpdir(), 'sluice-suite-'));
  try {
    return await assessCase({ folder: await writeCase(suite, 'case', files), details, schema });
  } catch (cause) {
    if (!(cause instanceof RunFolderError)) throw cause;
    const message = `The recording of this run is incomplete (${cause.code}), so it cannot be assessed again. Add another run, or copy this one with sluice export.`;
    throw new SuiteError('CASE_INVALID', message, { cause });
  } finally {
    await rm(suite, { recursive: true, force: true });
  }
}

/** Reads all files of the attempts, but not the events, which are translated again. */
async function readAttemptFiles(folder: RunFolder): Promise<CaseFile[]> {
  const files: CaseFile[] = [];
  let remaining = CASE_BYTES;
  for (const attempt of await folder.attempts()) {
    for (const kind of listKeys(ATTEMPT_FILES)) {
      const name = getAttemptFileName(kind, attempt);
      const bytes = await readCaseFile(name, remaining, async () => folder.openAttempt(kind, attempt));
      if (bytes === undefined || (bytes.length === 0 && kind !== 'stdout')) continue;
      remaining -= bytes.length;
      files.push({ path: `${CASE_FILES.run}/${name}`, bytes });
    }
  }
  return files;
}

/** File times can lag behind the clock that timed the start. */
const CLOCK_TICK_MS = 20;

/** Reads the result file that counts: the first one that is not older than the run. */
async function readResultFile(folder: RunFolder, { started_at }: OrderRecord): Promise<CaseFile[]> {
  const since = Date.parse(started_at ?? '') - CLOCK_TICK_MS;
  const found = new Map<string, RunFile>();
  for await (const file of folder.files()) if (!(file.mtimeMs < since)) found.set(file.path, file);
  const file = RESULT_FILES.flatMap((path) => found.get(path) ?? [])[0];
  if (file === undefined) return [];
  const bytes = await readCaseFile(file.path, CASE_BYTES, async () => file.open()).catch(() => undefined);
  return bytes === undefined ? [] : [{ path: file.path, bytes }];
}

async function gatherFacts(
  { record, folder, store, wrappers }: RunCaseOptions,
  order: OrderRecord,
): Promise<OrderFacts> {
  const { issue_ref, run_id, worker, instructions, expects } = order.order;
  const executions = await store.listExecutions({ issueRef: issue_ref, runId: run_id, limit: 100 });
  // The first decision was made by the rules; users might have decided later.
  const execution = executions.items.findLast(({ who }) => who === null);
  const commitProblem = execution?.problems.find(
    ({ code }) => code === 'COMMIT_NOT_FOUND' || code === 'COMMIT_UNCHECKED',
  );
  const hasChange = execution?.problems.every(({ code }) => code !== 'CHANGES_MISSING' && code !== commitProblem?.code);
  const commit = hasChange === true ? order.result?.changes.commit : undefined;
  const decision = order.decision;
  const { value, repair_level } = record.result ?? {};
  const resultFile = await readCaseFile('work_result.json', CASE_BYTES, async () =>
    folder.openWorkFile('work_result.json'),
  ).catch(() => undefined);
  const answer = value !== undefined && repair_level === 'none' ? formatJson(value) : undefined;
  return {
    issue_ref,
    run_id,
    worker,
    instructions,
    ...readPolicy(order, wrappers),
    exit_code: execution?.exit_code ?? null,
    signal: execution?.signal ?? null,
    evidence: (decision?.evidence ?? []).filter(({ by, claim }) => by === 'sluice' && claim !== 'result'),
    result_is_answer: resultFile !== undefined && Buffer.from(resultFile).toString() === answer,
    ...omitUndefined({ expects, commit, commit_problem: commitProblem }),
    ...(decision === null
      ? {}
      : { decided: { action: decision.action, code: decision.result_code, reason: decision.reason } }),
  };
}

function readPolicy({ order }: OrderRecord, wrappers: Wrappers): Pick<OrderFacts, 'policy' | 'checks'> {
  try {
    const wrapper = findWrapper(order.worker, wrappers);
    return { policy: choosePolicy(order, wrapper), checks: order.checks ?? wrapper.checks ?? [] };
  } catch (error) {
    if (getErrorCode(error) !== 'UNKNOWN_WORKER') throw error;
    return { policy: choosePolicy(order, {}), checks: order.checks ?? [] };
  }
}

/** The number of inbox items searched per issue. */
const MAX_ITEMS = 1000;

async function findVerdict(
  store: Pick<OrderStore, 'listInbox'>,
  { order, run }: OrderRecord,
): Promise<CaseVerdict | undefined> {
  let cursor: string | undefined;
  for (let searchedCount = 0; searchedCount < MAX_ITEMS;) {
    const page = await store.listInbox({ issueRef: order.issue_ref, limit: 100, ...omitUndefined({ cursor }) });
    for (const { run: itemRun, resolution } of page.items) {
      if (itemRun !== run || resolution === null || resolution.action === 'superseded') continue;
      const { action, who, why, at, result } = resolution;
      return { action, who, why, at, ...omitUndefined({ result }) };
    }
    searchedCount += page.items.length;
    if (page.next_cursor === null || page.items.length === 0) return undefined;
    cursor = page.next_cursor;
  }
  return undefined;
}
