import { escapeMarkup, getErrorMessage, isSluiceError, omitUndefined } from '../../base/index.js';
import { findFirstDifference, readLastAttempt } from '../../runs/run-folder/index.js';
import {
  listCases,
  openCase,
  writeExpected,
  CASE_BYTES,
  CASE_FILES,
  readCaseFile,
  type OpenCase,
} from './case-folder.js';
import { SuiteError, type Assessment, type OrderFacts } from './case-record.js';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectResult, readExit, withCommit } from '../../orders/dispatch/index.js';
import { readSmallFile } from '../../base/files/index.js';
import { decide, gatherEvidence, readWorkResult, RESULT_FILES, STREAM_BYTES } from '../../orders/index.js';
import type { Reading, RunResult } from '../../store/records/index.js';
import { judgeRunAgain, judgeText, NO_CHANGES, type JudgedRun, type StoredContract } from '../../runs/index.js';

interface CaseChange {
  readonly part: 'reading' | 'decision';
  readonly path: readonly (string | number)[];
  /** Undefined if there is no value. */
  readonly expected: unknown;
  readonly found: unknown;
}

export interface CaseReport {
  readonly name: string;
  readonly status: 'same' | 'changed' | 'broken';
  readonly ms: number;
  readonly changes: readonly CaseChange[];
  readonly problem?: string;
  readonly decision?: Assessment['decision'];
}

interface SuiteOptions {
  readonly suite: string;
  /** All cases by default. */
  readonly names?: readonly string[];
  readonly clock: () => number;
  readonly onCase?: (report: CaseReport, total: number) => void;
}

/** Assesses every case again, in sequence, and compares the results with the expectations. */
export async function runSuite(options: SuiteOptions): Promise<readonly CaseReport[]> {
  const { suite, names = [], onCase } = options;
  const selected = names.length > 0 ? names : await listCases(suite);
  if (selected.length === 0)
    throw new SuiteError('CASE_NOT_FOUND', `No cases found in "${suite}". Add one with: sluice suite add RUN`);
  const reports: CaseReport[] = [];
  for (const name of selected) {
    const report = await runCase(options, name);
    reports.push(report);
    onCase?.(report, selected.length);
  }
  return reports;
}

async function runCase({ suite, clock }: SuiteOptions, name: string): Promise<CaseReport> {
  const startedAt = clock();
  try {
    const suiteCase = await openCase(suite, name);
    const actual = await assessCase(suiteCase);
    const changes = findChanges(suiteCase.expected, actual);
    const status = changes.length === 0 ? 'same' : 'changed';
    return { name, status, ms: clock() - startedAt, changes, decision: actual.decision };
  } catch (error) {
    // An error in one case does not stop the others, but a missing case that the caller named or an unreadable suite does.
    if (isSluiceError(error) && (error.code === 'CASE_NOT_FOUND' || error.code === 'SUITE_UNREADABLE')) throw error;
    const problem = isSluiceError(error) ? `${error.code}: ${error.message}` : getErrorMessage(error);
    return { name, status: 'broken', ms: clock() - startedAt, changes: [], problem };
  }
}

/** Finds the first difference in the reading and in the decision. Both sides come from JSON. */
function findChanges(expected: Assessment, actual: Assessment): CaseChange[] {
  const actualJson = JSON.parse(JSON.stringify(actual)) as Assessment;
  const parts = [
    ['reading', expected.reading, actualJson.reading],
    ['decision', withoutReason(expected), withoutReason(actualJson)],
  ] as const;
  return parts.flatMap(([part, expectedPart, actualPart]) => {
    const difference = findFirstDifference(expectedPart, actualPart);
    if (difference === undefined) return [];
    return [{ part, path: difference.path, expected: difference.stored, found: difference.rebuilt }];
  });
}

/** Reasons are not compared, because their wording can change. */
function withoutReason({ decision: { action, code } }: Assessment): object {
  return { action, code };
}

/** Replaces the expectations of changed cases, and returns their reports; none if one of the cases cannot be read. */
export async function acceptCases(options: SuiteOptions): Promise<readonly CaseReport[]> {
  const reports = await runSuite(options);
  const brokenCase = reports.find(({ status }) => status === 'broken');
  if (brokenCase !== undefined) {
    throw new SuiteError(
      'CASE_INVALID',
      `No case was accepted, because "${brokenCase.name}" cannot be read: ${brokenCase.problem ?? ''}`,
    );
  }
  const changedReports = reports.filter(({ status }) => status === 'changed');
  for (const { name } of changedReports) {
    const suiteCase = await openCase(options.suite, name);
    await writeExpected(suiteCase, await assessCase(suiteCase));
  }
  return changedReports;
}

/** Renders the reports as JUnit XML, which CI systems can display. */
export function renderJunit(reports: readonly CaseReport[]): string {
  const count = (status: CaseReport['status']): number => reports.filter((report) => report.status === status).length;
  const cases = reports.map((report) => {
    const head = `    <testcase classname="sluice-suite" name=${quote(report.name)} time="${(report.ms / 1000).toFixed(3)}"`;
    if (report.status === 'same') return `${head}/>`;
    const kind = report.status === 'changed' ? 'failure' : 'error';
    const lines = report.changes.map(describeChange);
    const message = report.problem ?? lines.join('; ');
    return `${head}>\n      <${kind} message=${quote(message)}>${escape(lines.join('\n'))}</${kind}>\n    </testcase>`;
  });
  const totals = `tests="${reports.length}" failures="${count('changed')}" errors="${count('broken')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="sluice-suite" ${totals}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** Longer values are shortened, so a change fits on one line. */
const MAX_LENGTH = 200;

export function describeChange({ part, path, expected, found }: CaseReport['changes'][number]): string {
  return `${part} ${path.join('.')}: expected ${formatValue(expected)}, found ${formatValue(found)}`;
}

function formatValue(value: unknown): string {
  const text = value === undefined ? 'no value' : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

function quote(text: string): string {
  return `"${escape(text).replaceAll('\n', '&#10;')}"`;
}

/** Characters that XML 1.0 does not allow. They are replaced, because agents can print them. */
// oxlint-disable-next-line no-control-regex
const INVALID_IN_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu;

function escape(text: string): string {
  return escapeMarkup(text.replaceAll(INVALID_IN_XML, '\u{FFFD}'));
}

/** A case without its expectations. */
type CaseContent = Pick<OpenCase, 'folder' | 'details' | 'schema'>;

/** Evaluates a case again with this version's rules. */
export async function assessCase(content: CaseContent): Promise<Assessment> {
  const { details, folder } = content;
  switch (details.kind) {
    case 'text':
      return assessText(content);
    case 'run':
      return assessRun(await judgeRecordedRun(content), details.contract !== undefined);
    case 'order':
      if (details.order === undefined)
        throw new SuiteError(
          'CASE_INVALID',
          `"${folder}/case.json" has no "order". Restore it, or add the case again.`,
        );
      return assessOrder(content, details.order);
  }
}

function readContract({ details, schema }: CaseContent): StoredContract | undefined {
  if (details.contract === undefined) return undefined;
  return { ...details.contract, ...omitUndefined({ schema }) };
}

async function judgeRecordedRun(content: CaseContent): Promise<JudgedRun> {
  return judgeRunAgain(join(content.folder, CASE_FILES.run), readContract(content));
}

async function assessText(content: CaseContent): Promise<Assessment> {
  const text = await readSmallFile(join(content.folder, CASE_FILES.answer), CASE_BYTES);
  if (text === undefined) {
    throw new SuiteError('CASE_INVALID', `"${join(content.folder, CASE_FILES.answer)}" is missing. Restore it.`);
  }
  const judgement = await judgeText(text, readContract(content) ?? {});
  switch (judgement.verdict) {
    case 'validated': {
      const { value, repairLevel, repairs, warnings } = judgement;
      return {
        reading: { value, ...listRepairs(repairs), repair_level: repairLevel, warnings: listCodes(warnings) },
        decision: { action: 'success', code: 'none', reason: '' },
      };
    }
    case 'comment':
      return {
        reading: { comment: judgement.comment, warnings: listCodes(judgement.warnings) },
        decision: { action: 'comment', code: judgement.error.code, reason: judgement.error.message },
      };
    case 'not_validated': {
      const { error, reason, warnings } = judgement;
      return {
        reading: { issues: listIssues(error?.issues), warnings: listCodes(warnings) },
        decision: { action: 'failed', code: error?.code ?? 'SCHEMA_MISMATCH', reason },
      };
    }
    case 'no_contract':
      throw new TypeError('An answer is always judged by a contract.');
  }
}

/** The number of characters compared in an answer without a contract. */
const MAX_TEXT_LENGTH = 64 * 1024;

function assessRun({ outcome, verdicts, warnings, text }: JudgedRun, hasContract: boolean): Assessment {
  const { status, value, comment, repair_level, repairs, error } = outcome;
  return {
    reading: {
      ...omitUndefined({ value, comment, text: hasContract ? undefined : text?.slice(-MAX_TEXT_LENGTH) }),
      ...listRepairs(repairs ?? []),
      repair_level,
      warnings,
      ...omitUndefined({ issues: error?.issues && listIssues(error.issues) }),
      verdicts,
    },
    decision: { action: status, code: error?.code ?? 'none', reason: error?.message ?? '' },
  };
}

async function assessOrder(content: CaseContent, facts: OrderFacts): Promise<Assessment> {
  const judgement = await judgeRecordedRun(content);
  const { exit_code, signal } = facts;
  const result: RunResult = {
    warnings: [],
    artifacts: NO_CHANGES,
    attempts: judgement.verdicts.length,
    session_id: null,
    ...judgement.outcome,
    ...omitUndefined({ text: judgement.text }),
    process: { exit_code, signal, command: [], version: null },
  };
  const { file, answer, draft } = collectResult(result);
  const reading = await withResultFolder(content, facts.result_is_answer ? file?.text : undefined, async (dir) => {
    const { stdout, stderr } = await readLastAttempt(join(content.folder, CASE_FILES.run), STREAM_BYTES);
    return readWorkResult({
      dir,
      stdout,
      stderr,
      order: { repo_dir: dir },
      ...omitUndefined({ answer }),
      findCommit: async () =>
        Promise.resolve(facts.commit_problem === undefined ? {} : { problem: facts.commit_problem }),
    });
  });
  const settled =
    facts.expects === 'report' ? removeProblem(reading, 'CHANGES_MISSING') : addCommit(reading, facts.commit);
  const completeReading = settled.result === undefined ? { ...settled, ...omitUndefined({ draft }) } : settled;
  const { runError } = readExit(result);
  const { action, result_code, reason } = decide({
    order: facts,
    reading: completeReading,
    activeRunId: facts.run_id,
    exitCode: exit_code,
    signal,
    evidence: gatherEvidence(completeReading, facts, { exitCode: exit_code, signal }, facts.evidence),
    policy: facts.policy,
    checks: facts.checks,
    ...omitUndefined({ runError }),
  });
  const { source, result: workResult, anchors, draft: shownDraft, problems } = completeReading;
  return {
    reading: {
      source,
      ...omitUndefined({ result: workResult, anchors, draft: shownDraft }),
      problems: problems.map(({ code, path }) => ({ code, ...omitUndefined({ path }) })),
      verdicts: judgement.verdicts,
    },
    decision: { action, code: result_code, reason },
  };
}

/** Adds the commit that Sluice made; an agent might have shortened its own. */
function addCommit(reading: Reading, commit: string | undefined): Reading {
  const claimed = reading.result?.changes.commit;
  const isClaimed = claimed !== undefined && commit?.startsWith(claimed) === true;
  return commit === undefined || isClaimed ? reading : withCommit(reading, commit);
}

function removeProblem(reading: Reading, removed: string): Reading {
  return { ...reading, problems: reading.problems.filter(({ code }) => code !== removed) };
}

/** Copies the result files of a case to a temporary folder, together with an answer that was used as the result file. */
async function withResultFolder<T>(
  { folder }: CaseContent,
  answer: string | undefined,
  read: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-case-'));
  try {
    for (const name of RESULT_FILES) {
      const bytes = await readCaseFile(join(folder, name), CASE_BYTES);
      if (bytes !== undefined) await writeFile(join(dir, name), bytes);
    }
    if (answer !== undefined) await writeFile(join(dir, 'work_result.json'), answer);
    return await read(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function listRepairs(repairs: readonly { readonly kind: string }[]): { readonly repairs?: readonly string[] } {
  return repairs.length === 0 ? {} : { repairs: [...new Set(repairs.map(({ kind }) => kind))] };
}

function listCodes(warnings: readonly { readonly code: string }[]): readonly string[] {
  return [...new Set(warnings.map(({ code }) => code))];
}

/** Lists the paths of schema errors without their messages, whose wording can change. */
function listIssues(issues: readonly { readonly path: readonly unknown[] }[] = []): readonly string[] {
  return [...new Set(issues.map(({ path }) => path.map(String).join('.')))];
}
