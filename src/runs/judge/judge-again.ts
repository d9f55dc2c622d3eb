import type { DrainResult, Emitted, FcmpEvent, Verdict } from '../../events/index.js';
import { fromJsonSchema } from '../../json/schema/index.js';
import type { StandardSchema } from '../../json/index.js';
import type { RunResult, StoredRunSpec } from '../../store/records/index.js';
import { translateRunFolder, type AttemptJudge, type AttemptMeta, type TranslateOptions } from '../run-folder/index.js';
import { describeOutcome } from '../result/build-result.js';
import { AnswerCollector, chooseAnswerSource } from './answer.js';
import { decideVerdict, isAsking } from './decide-verdict.js';
import { judgeOutput, type JudgedOutput } from './judge-output.js';

/** A contract as data: the part of a run's spec that judges its answer. */
export type StoredContract = NonNullable<StoredRunSpec['contract']>;

export interface JudgedRun {
  readonly outcome: Pick<RunResult, 'status' | 'value' | 'comment' | 'repair_level' | 'repairs' | 'error'>;
  /** Codes of the warnings about the last attempt's answer. */
  readonly warnings: readonly string[];
  /** Each attempt's verdict; null for an attempt without a verdict, such as one that ended with a question. */
  readonly verdicts: readonly (Verdict | null)[];
  /** The agent's last message. */
  readonly text: string | undefined;
}

/**
 * Reads a run's recorded bytes and judges its answer again, attempt by attempt, using this version's rules. Facts that
 * are not in the bytes are used as recorded: a cancellation, a timeout, an exceeded limit.
 */
export async function judgeRunAgain(
  dir: string,
  contract: StoredContract | undefined,
  options: Omit<TranslateOptions, 'judge' | 'attempt' | 'follow'> = {},
): Promise<JudgedRun> {
  const judge = new RecordedRunJudge(contract);
  let last: FcmpEvent | undefined;
  for await (const { protocol, event } of translateRunFolder(dir, { ...options, judge })) {
    if (protocol === 'fcmp') last = event;
  }
  const { judged } = judge;
  const warnings = judged === null || judged.verdict === 'no_contract' ? [] : judged.warnings;
  return {
    outcome: last === undefined ? { status: 'failed', repair_level: 'none' } : describeOutcome(last, judged, null),
    warnings: [...new Set(warnings.map(({ code }) => code))],
    verdicts: judge.verdicts,
    text: judge.answer.lastText.text,
  };
}

/** Judges a string as if it were a run's answer. */
export async function judgeText(text: string, contract: StoredContract): Promise<JudgedOutput> {
  return judgeOutput(text, contract, compileSchema(contract));
}

function compileSchema(contract: StoredContract | undefined): StandardSchema | undefined {
  return contract?.schema === undefined ? undefined : fromJsonSchema(contract.schema, { trusted: false });
}

class RecordedRunJudge implements AttemptJudge {
  readonly #contract: StoredContract | undefined;
  readonly #schema: StandardSchema | undefined;
  readonly verdicts: (Verdict | null)[] = [];
  answer = new AnswerCollector('messages');
  judged: JudgedOutput | null = null;

  constructor(contract: StoredContract | undefined) {
    this.#contract = contract;
    this.#schema = compileSchema(contract);
  }

  begin(_attempt: number, meta: AttemptMeta): void {
    this.answer = new AnswerCollector(chooseAnswerSource(meta, this.#contract));
    this.judged = null;
  }

  addBytes(...added: Parameters<AttemptJudge['addBytes']>): void {
    this.answer.addBytes(...added);
  }

  addEvents(events: readonly Emitted[]): void {
    this.answer.addEvents(events);
  }

  async decide(
    drained: DrainResult,
    meta: AttemptMeta,
  ): Promise<{ readonly verdict?: Verdict; readonly reason?: string }> {
    const { verdict: recorded, reason } = meta;
    if (recorded !== undefined && !ANSWER_VERDICTS.has(recorded)) {
      this.verdicts.push(recorded);
      return { verdict: recorded, ...(reason === undefined ? {} : { reason }) };
    }
    const isJudged = !isAsking(meta.mode ?? 'auto', drained);
    this.judged = isJudged
      ? await judgeOutput(this.answer.text, this.#contract, this.#schema, this.answer.comment)
      : null;
    const decision = decideVerdict({
      stop: null,
      judged: this.judged,
      drained,
      end: { exitCode: meta.exit_code ?? null, signal: meta.signal ?? null },
      // Whether a rejected answer was retried is a recorded fact.
      canRetry: recorded === 'retry',
      engineFailure: null,
      isHeld: false,
    });
    this.verdicts.push(decision.verdict ?? null);
    return decision;
  }
}

/** Verdicts that depend on the answer; all others are recorded facts. */
const ANSWER_VERDICTS: ReadonlySet<Verdict> = new Set([
  'validated',
  'not_validated',
  'comment',
  'no_contract',
  'retry',
]);
