import { omitUndefined, cutText } from '../../base/index.js';
import type { RunSummary, RunView } from '../../api/index.js';
import type { RunRecord, RunResult } from '../../records/index.js';

/** Converts a run for a response: removes its claim, and adds the host that has its folder. */
export function toRunView({ owner, lease_until: _, ...record }: RunRecord): RunView {
  return { engine: record.spec.engine, ...record, ...pickHost(owner?.host) };
}

/**
 * Returns an object with the host, or an empty object if it is unknown. The host of an unclaimed run is an empty
 * string.
 */
export function pickHost(host: string | undefined): { readonly host?: string } {
  return host === undefined || host === '' ? {} : { host };
}

/**
 * Converts a run for a list. Prompts and messages are shortened, and schemas and values are omitted, to limit the page
 * size.
 */
export function summarizeRun(record: RunRecord): RunSummary {
  const { prompt, command, model, mode, permissions, workdir } = record.spec;
  const program = command?.[0];
  const shortSpec = { prompt: shorten(prompt), program: shorten(program), model, mode, permissions, workdir };
  return {
    ...toRunView(record),
    spec: omitUndefined(shortSpec),
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

const MAX_TEXT_LENGTH = 500;

function shorten(text: string | undefined): string | undefined {
  return text === undefined || text.length <= MAX_TEXT_LENGTH ? text : `${cutText(text, MAX_TEXT_LENGTH)}…`;
}
