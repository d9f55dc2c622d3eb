import { omitUndefined } from '../../base/index.js';
import type { RunSummary, RunView } from '../../api/index.js';
import type { RunRecord, RunResult } from '../../records/index.js';

/** A run without its claim, and with the machine that has its folder. */
export function viewRun({ owner, lease_until: _, ...record }: RunRecord): RunView {
  return { engine: record.spec.engine, ...record, ...viewHost(owner?.host) };
}

/** Where something is, if that is known: the host of a run that no worker has claimed is empty. */
export function viewHost(host: string | undefined): { readonly host?: string } {
  return host === undefined || host === '' ? {} : { host };
}

/** A run in a list: prompts, schemas and values in full could make a page of any size. */
export function summarizeRun(record: RunRecord): RunSummary {
  const { prompt, command, model, mode, permissions, workdir } = record.spec;
  const program = command?.[0];
  const short = { prompt: shorten(prompt), program: shorten(program), model, mode, permissions, workdir };
  return {
    ...viewRun(record),
    spec: omitUndefined(short),
    result: record.result === null ? null : summarizeResult(record.result),
  };
}

function summarizeResult(result: RunResult): NonNullable<RunSummary['result']> {
  const { status, repair_level, attempts, error, usage, repairs } = result;
  return {
    status,
    repair_level,
    attempts,
    ...(error !== undefined && {
      error: { category: error.category, code: error.code, message: shorten(error.message) ?? '' },
    }),
    ...omitUndefined({
      usage,
      repair_kinds: repairs === undefined ? undefined : [...new Set(repairs.map(({ kind }) => kind))],
    }),
  };
}

const SHOWN = 500;

function shorten(text: string | undefined): string | undefined {
  return text === undefined || text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
