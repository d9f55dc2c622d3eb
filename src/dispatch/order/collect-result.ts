import type { RunResult } from '../../records/index.js';
import type { PackFile } from './inject-order.js';

/** What a run's own result adds to what its worker left in the run folder. */
export interface Collected {
  /** To be written if the worker left none itself. */
  readonly file?: PackFile;
  /** For the inbox: it took a repair to read. */
  readonly draft?: unknown;
}

/**
 * Takes over the work result that an agent answered with instead of writing a file. Only one that needed no repair
 * counts; the file is then read as any other, by the same rules.
 *
 * @example
 * const { file, draft } = collectResult(await run.result)
 */
export function collectResult(result: RunResult): Collected {
  if (result.status !== 'success' || result.value === undefined) return {};
  if (result.repair_level !== 'none') return { draft: result.value };
  return { file: { path: 'work_result.json', text: `${JSON.stringify(result.value, null, 2)}\n` } };
}
