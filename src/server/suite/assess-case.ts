import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectResult, readExit } from '../../orders/dispatch/index.js';
import { readSmallFile } from '../../base/files/index.js';
import { decide, gatherEvidence, readWorkResult, RESULT_FILES, STREAM_BYTES } from '../../orders/index.js';
import type { Reading, RunResult } from '../../store/records/index.js';
import { readLastAttempt } from '../../runs/run-folder/index.js';
import { judgeRunAgain, judgeText, NO_CHANGES } from '../../runs/index.js';
import type { JudgedRun, StoredContract } from '../../runs/index.js';
import { CASE_BYTES, CASE_FILES, readCaseFile } from './case-folder.js';
import type { OpenCase } from './case-folder.js';
import type { Assessment, OrderFacts } from './case-record.js';
import { SuiteError } from './case-record.js';

/** A case without its expectations. */
export type CaseContent = Pick<OpenCase, 'folder' | 'details' | 'schema'>;

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
  return { ...details.contract, ...(schema === undefined ? {} : { schema }) };
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
      ...(value === undefined ? {} : { value }),
      ...(comment === undefined ? {} : { comment }),
      ...(hasContract || text === undefined ? {} : { text: text.slice(-MAX_TEXT_LENGTH) }),
      ...listRepairs(repairs ?? []),
      repair_level,
      warnings,
      ...(error?.issues === undefined ? {} : { issues: listIssues(error.issues) }),
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
    ...(judgement.text === undefined ? {} : { text: judgement.text }),
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
      ...(answer === undefined ? {} : { answer }),
      findCommit: async () =>
        Promise.resolve(facts.commit_problem === undefined ? {} : { problem: facts.commit_problem }),
    });
  });
  const relevantReading = facts.expects === 'report' ? removeProblem(reading, 'CHANGES_MISSING') : reading;
  const completeReading =
    relevantReading.result === undefined && draft !== undefined ? { ...relevantReading, draft } : relevantReading;
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
    ...(runError === undefined ? {} : { runError }),
  });
  return {
    reading: {
      source: completeReading.source,
      ...(completeReading.result === undefined ? {} : { result: completeReading.result }),
      ...(completeReading.anchors === undefined ? {} : { anchors: completeReading.anchors }),
      ...(completeReading.draft === undefined ? {} : { draft: completeReading.draft }),
      problems: completeReading.problems.map(({ code, path }) => ({ code, ...(path === undefined ? {} : { path }) })),
      verdicts: judgement.verdicts,
    },
    decision: { action, code: result_code, reason },
  };
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
