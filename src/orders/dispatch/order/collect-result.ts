import { dropFullStop } from '../../plain-text.js';
import type { RejectedAnswer } from '../../reading/read-work-result.js';
import type { RunResult } from '../../../store/records/index.js';
import type { PackFile } from './inject-order.js';

/** The work result in an agent's answer, or why the answer does not count. */
export interface Collected {
  /** The result file, to be written unless the agent left one itself. */
  readonly file?: PackFile;
  /** A draft for the inbox, because the answer needed repair. */
  readonly draft?: unknown;
  /** The answer, and why it does not count. */
  readonly answer?: RejectedAnswer;
}

/**
 * Extracts the work result from the answer of an agent that wrote no file. It counts only if it needed no repair; it is
 * then written to a file and read by the same rules as any other result.
 */
export function collectResult(result: RunResult): Collected {
  const { status, value, text = '', comment = text, error } = result;
  if (status === 'comment') {
    const problem = 'the agent answered without tags; only a result file or an answer in <json> tags counts';
    return { answer: { text: comment, problem } };
  }
  if (status === 'failed' && error?.category === 'output') {
    return { answer: { text, problem: `the agent's answer was rejected: ${dropFullStop(error.message)}` } };
  }
  if (status !== 'success' || value === undefined) return {};
  if (result.repair_level !== 'none') {
    return { draft: value, answer: { text, problem: "the agent's answer had to be repaired, so it does not count" } };
  }
  return { file: { path: 'work_result.json', text: `${JSON.stringify(value, null, 2)}\n` } };
}
