import { omitUndefined, setLatest, truncate } from '../../base/index.js';
import type { RunSummary, RunView } from '../api/index.js';
import type { RunRecord, RunResult } from '../../store/records/index.js';
import type { Maintenance } from '../../store/index.js';
import type { OrderStore, RunStore } from '../../store/ports/index.js';
import { RequestError } from '../http/problem.js';

/** Converts a run for a response: removes its claim, and adds the host that has its folder. */
export function toRunView({ owner, lease_until: _, ...record }: RunRecord): RunView {
  return { engine: record.spec.engine, ...record, ...pickHost(owner?.host) };
}

/** Returns an object with the host; empty if it is unknown. The host of an unclaimed run is an empty string. */
export function pickHost(host: string | undefined): { readonly host?: string } {
  return host === undefined || host === '' ? {} : { host };
}

/** Converts a run for a list: prompts and messages are shortened, schemas and values omitted, to keep pages small. */
export function summarizeRun(record: RunRecord, title: string): RunSummary {
  const { prompt, command, model, mode, permissions, workdir } = record.spec;
  const program = command?.[0];
  const shortSpec = { prompt: truncateText(prompt), program: truncateText(program), model, mode, permissions, workdir };
  const { refused_answers: _, ...view } = toRunView(record);
  return {
    ...view,
    title,
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
      error: { category: error.category, code: error.code, message: truncateText(error.message) ?? '' },
    }),
    ...omitUndefined({
      usage,
      repair_kinds: repairs === undefined ? undefined : [...new Set(repairs.map(({ kind }) => kind))],
    }),
  };
}

const MAX_TEXT_LENGTH = 500;
const MAX_TITLE_LENGTH = 200;
/** How many titles of orders are kept: lists are polled, and the instructions of an order do not change. */
const MAX_TITLES = 2000;

/** Creates the function that titles runs: with the first line of the order's instructions, or of the prompt or command. */
export function createTitles(store: Pick<OrderStore, 'findOrder'>): (record: RunRecord) => Promise<string> {
  const ofOrders = new Map<string, string>();
  return async ({ id, order, spec }) => {
    const known = ofOrders.get(id);
    if (known !== undefined) return known;
    const found = order === null ? undefined : await store.findOrder(order.issue_ref, order.run_id);
    const title = readTitle(found?.order.instructions ?? spec.prompt ?? spec.command?.join(' ') ?? '');
    if (found === undefined) return title;
    setLatest(ofOrders, MAX_TITLES, id, title);
    return title;
  };
}

function readTitle(text: string): string {
  const [line = ''] = text
    .slice(0, 2 * MAX_TEXT_LENGTH)
    .trim()
    .split('\n', 1);
  return truncate(line.trim(), MAX_TITLE_LENGTH);
}

function truncateText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : truncate(text, MAX_TEXT_LENGTH);
}

/** Adds the host that has the run folder to each record, with a single query. */
export async function addHosts<T extends { readonly run: string }>(
  store: Pick<Maintenance, 'findHosts'>,
  records: readonly T[],
): Promise<(T & { readonly host?: string })[]> {
  const hosts = await store.findHosts(records.map(({ run }) => run));
  return records.map((record) => ({ ...record, ...pickHost(hosts.get(record.run)) }));
}

/** Finds the requested run; throws `RUN_NOT_FOUND`. */
export async function findRun(store: Pick<RunStore, 'findRun'>, id: string): Promise<RunRecord> {
  const record = await store.findRun(id);
  if (record !== undefined) return record;
  throw createRunNotFoundError();
}

/** Creates the error for an unknown run. The message does not quote the id, because it can be any string. */
export function createRunNotFoundError(): RequestError {
  return new RequestError('RUN_NOT_FOUND', 'Run not found. GET /v1/runs lists all runs.');
}
