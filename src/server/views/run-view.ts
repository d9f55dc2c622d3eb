import type { RunSummary, RunView } from '../../api/index.js';
import type { RunRecord, RunResult } from '../../records/index.js';
import { present } from '../present.js';

/** A run as its caller sees it. */
export function viewRun(record: RunRecord): RunView {
  const { spec, result } = record;
  return { ...standingOf(record), spec: { ...spec }, result: result === null ? null : viewResult(result) };
}

/** A run in a list: prompts, schemas and values in full could make a page of any size. */
export function summarizeRun(record: RunRecord): RunSummary {
  const { prompt, command, model, mode, permissions, workdir } = record.spec;
  const program = command?.[0];
  const short = { prompt: shorten(prompt), program: shorten(program), model, mode, permissions, workdir };
  return {
    ...standingOf(record),
    spec: present(short),
    result: record.result === null ? null : summarizeResult(record.result),
  };
}

function standingOf(record: RunRecord): Omit<RunView, 'spec' | 'result'> {
  const { id, spec, state, order, cancel_requested, created_at, started_at, ended_at } = record;
  return { id, engine: spec.engine, state, order, cancel_requested, created_at, started_at, ended_at };
}

function viewResult({ artifacts, error, usage, process, ...rest }: RunResult): NonNullable<RunView['result']> {
  const open = { error: copy(error), usage: copy(usage), process: copy(process) };
  return { ...rest, artifacts: { ...artifacts }, ...present(open) };
}

function summarizeResult(result: RunResult): NonNullable<RunSummary['result']> {
  const { status, repair_level, attempts, error, usage } = result;
  return {
    status,
    repair_level,
    attempts,
    ...(error === undefined
      ? {}
      : { error: { category: error.category, code: error.code, message: shorten(error.message) ?? '' } }),
    ...present({ usage: copy(usage) }),
  };
}

/** An interface has no index signature, as a wire object without a closed shape has. */
function copy(value: object | undefined): Readonly<Record<string, unknown>> | undefined {
  return value === undefined ? undefined : Object.fromEntries(Object.entries(value));
}

const SHOWN = 500;

function shorten(text: string | undefined): string | undefined {
  return text === undefined || text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
