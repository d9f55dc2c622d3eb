import { omitUndefined } from '../../base/index.js';
import type { FcmpEvent, Verdict } from '../../events/index.js';
import { fromJsonSchema } from '../../json/schema/index.js';
import type { StandardSchema } from '../../json/index.js';
import type { RunResult, StoredRunSpec } from '../../store/records/index.js';
import { translateRunFolder, type AttemptJudge, type TranslateOptions } from '../run-folder/index.js';
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
  const schema = compileSchema(contract);
  const verdicts: (Verdict | null)[] = [];
  let answer = new AnswerCollector('messages');
  let judged: JudgedOutput | null = null;
  const judge: AttemptJudge = {
    begin(_attempt, meta) {
      answer = new AnswerCollector(chooseAnswerSource(meta, contract));
      judged = null;
    },
    addBytes: (stream, bytes) => answer.addBytes(stream, bytes),
    addEvents: (events) => answer.addEvents(events),
    async decide(drained, meta) {
      const { verdict: recorded, reason } = meta;
      if (recorded !== undefined && !ANSWER_VERDICTS.has(recorded)) {
        verdicts.push(recorded);
        return { verdict: recorded, ...omitUndefined({ reason }) };
      }
      if (!isAsking(meta.mode ?? 'auto', drained))
        judged = await judgeOutput(answer.text, contract, schema, answer.comment);
      const decision = decideVerdict({
        stop: null,
        judged,
        drained,
        end: { exitCode: meta.exit_code ?? null, signal: meta.signal ?? null },
        // Whether a rejected answer was retried is a recorded fact.
        canRetry: recorded === 'retry',
        engineFailure: null,
        isHeld: false,
      });
      verdicts.push(decision.verdict ?? null);
      return decision;
    },
  };
  let last: FcmpEvent | undefined;
  for await (const { protocol, event } of translateRunFolder(dir, { ...options, judge })) {
    if (protocol === 'fcmp') last = event;
  }
  const final = judged as JudgedOutput | null;
  const warnings = final === null || final.verdict === 'no_contract' ? [] : final.warnings;
  return {
    outcome: last === undefined ? { status: 'failed', repair_level: 'none' } : describeOutcome(last, final, null),
    warnings: [...new Set(warnings.map(({ code }) => code))],
    verdicts,
    text: answer.lastText.text,
  };
}

/** Judges a string as if it were a run's answer. */
export async function judgeText(text: string, contract: StoredContract): Promise<JudgedOutput> {
  return judgeOutput(text, contract, compileSchema(contract));
}

function compileSchema(contract: StoredContract | undefined): StandardSchema | undefined {
  return contract?.schema === undefined ? undefined : fromJsonSchema(contract.schema, { trusted: false });
}

/** Verdicts that depend on the answer; all others are recorded facts. */
const ANSWER_VERDICTS: ReadonlySet<Verdict> = new Set([
  'validated',
  'not_validated',
  'comment',
  'no_contract',
  'retry',
]);
