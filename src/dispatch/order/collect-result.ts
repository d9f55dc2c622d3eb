import type { RejectedAnswer } from '../../orders/index.js';
import type { RunResult } from '../../records/index.js';
import type { PackFile } from './inject-order.js';

/** The additions from a run's own result to what its worker left in the run folder. */
export interface Collected {
  /** To be written if the worker left none itself. */
  readonly file?: PackFile;
  /** For the inbox: it took a repair to read. */
  readonly draft?: unknown;
  /** The agent's answer that was not a result, and why it does not count. */
  readonly answer?: RejectedAnswer;
}

/**
 * Takes over the work result that an agent answered with instead of writing a file. Only one that needed no repair
 * counts; the file is then read as any other, by the same rules.
 *
 * @example
 * const { file, draft } = collectResult(await run.result)
 */
export function collectResult(result: RunResult): Collected {
  const { status, value, comment, text = comment ?? '', error } = result;
  if (status === 'comment') {
    const problem = 'the agent answered without tags; only a result file or an answer in <json> tags counts';
    return { answer: { text, problem } };
  }
  if (status === 'failed' && error?.category === 'output') {
    return { answer: { text, problem: `the agent's answer was rejected: ${error.message.replace(/\.$/, '')}` } };
  }
  if (status !== 'success' || value === undefined) return {};
  if (result.repair_level !== 'none') {
    return { draft: value, answer: { text, problem: "the agent's answer had to be repaired, so it does not count" } };
  }
  return { file: { path: 'work_result.json', text: `${JSON.stringify(value, null, 2)}\n` } };
}
