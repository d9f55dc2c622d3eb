import type { ToolCall, ToolEnd } from '../engines/fact.js';
import type { FileDiff } from '../protocol/event-parts.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { copyStart } from './engine-error.js';

interface OpenCall {
  readonly name: string;
  readonly input: unknown;
  readonly parent: string | null;
  readonly diff: readonly FileDiff[];
  readonly paths: readonly string[];
}

/** Limit on open calls stored with their input; beyond it, only the name and parent of the oldest are kept. */
const MAX_OPEN = 4096;
/** Limit on older open calls; beyond it, the oldest is reported as unfinished. */
const MAX_REDUCED_CALLS = 16_384;

const NO_DIFF: readonly FileDiff[] = [];
const NO_PATHS: readonly string[] = [];

/** The name of a call whose result was printed without its start and without a name. */
const UNKNOWN_NAME = 'unknown';

/** Pairs the starts and ends of tool calls by id, so every end has exactly one start. */
export class ToolCalls {
  readonly #writer: EventWriter;
  readonly #open = new Map<string, OpenCall>();
  /** Older open calls, without their input, diff and paths. */
  readonly #reducedCalls = new Map<string, OpenCall>();
  /** The calls that can have changed a file, oldest first. */
  fileCalls: FileToolCall[] = [];
  hasAny = false;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  start(call: ToolCall): void {
    const existing = this.#find(call.id);
    const merged = merge(existing, call);
    this.#reducedCalls.delete(call.id);
    this.#open.set(call.id, merged);
    if (this.#open.size > MAX_OPEN) this.#reduceOldest();
    if (existing?.input === undefined) this.#addFileCall(call, merged.name);
    // Some engines repeat a start when they complete its input.
    if (existing !== undefined) return;
    this.hasAny = true;
    this.#writer.write('tool.call.started', toCallData(call.id, merged), { tool_call_id: call.id });
  }

  /** Returns the details of a call for a permission request, merged with earlier reports. */
  describe(call: ToolCall): Pick<CallData, 'name' | 'input' | 'diff' | 'locations'> {
    const {
      tool_call_id: _,
      parent_tool_call_id: _parent,
      ...known
    } = toCallData(call.id, merge(this.#find(call.id), call));
    return known;
  }

  complete(call: ToolEnd): void {
    const data: EndData = toCallData(call.id, this.#end(call));
    addResult(data, call);
    this.#writer.write('tool.call.completed', data, { tool_call_id: call.id });
  }

  fail(call: ToolEnd & { readonly error: string }): void {
    const data: EndData & { error?: string } = toCallData(call.id, this.#end(call));
    addResult(data, call);
    this.#writer.write('tool.call.failed', { ...data, error: call.error }, { tool_call_id: call.id });
  }

  /** Warns about calls that never ended. */
  endAll(): void {
    for (const [id, { name }] of [...this.#reducedCalls, ...this.#open]) this.#warnUnfinished(id, name);
    this.#reducedCalls.clear();
    this.#open.clear();
  }

  #end(call: ToolEnd): OpenCall {
    if (this.#find(call.id) === undefined) {
      this.start(call);
      if (call.startDerived !== true) this.#warnStartMissing(call.id);
    }
    const existing = this.#find(call.id);
    const merged = merge(existing, call);
    this.#open.delete(call.id);
    this.#reducedCalls.delete(call.id);
    if (existing?.input === undefined) this.#addFileCall(call, merged.name);
    return merged;
  }

  #addFileCall({ id, paths = NO_PATHS, input }: ToolCall, name: string): void {
    const searchableText = collectStrings(input);
    if (paths.length === 0 && searchableText === '') return;
    this.fileCalls.push({ toolCallId: id, name, paths: paths.map(toForwardSlashes), searchableText });
    if (this.fileCalls.length > 2 * MAX_FILE_CALLS) this.fileCalls = this.fileCalls.slice(-MAX_FILE_CALLS);
  }

  #find(id: string): OpenCall | undefined {
    return this.#open.get(id) ?? this.#reducedCalls.get(id);
  }

  /** Keeps only what the oldest call's end needs. Otherwise the end would get a second start without a name. */
  #reduceOldest(): void {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    const [id, { name, parent }] = oldest;
    this.#open.delete(id);
    this.#reducedCalls.set(id, { name, parent, input: undefined, diff: NO_DIFF, paths: NO_PATHS });
    if (this.#reducedCalls.size <= MAX_REDUCED_CALLS) return;
    const [dropped] = this.#reducedCalls;
    if (dropped === undefined) return;
    this.#reducedCalls.delete(dropped[0]);
    this.#warnUnfinished(dropped[0], dropped[1].name);
  }

  #warnStartMissing(id: string): void {
    const message = `The result of tool call ${JSON.stringify(id)} was printed, but not its start; the start was derived from the result.`;
    this.#writer.warn('TOOL_CALL_START_MISSING', message, { subject: id });
  }

  #warnUnfinished(id: string, name: string): void {
    const message = `Tool call ${JSON.stringify(id)} (${name}) was started but never ended.`;
    this.#writer.warn('TOOL_CALL_UNFINISHED', message, { subject: id }, { tool_call_id: id });
  }
}

/** Merges another report about a call with the earlier ones. */
function merge(known: OpenCall | undefined, call: ToolCall): OpenCall {
  return {
    name: call.name ?? known?.name ?? UNKNOWN_NAME,
    input: call.input ?? known?.input,
    parent: call.parent ?? known?.parent ?? null,
    diff: call.diff ?? known?.diff ?? NO_DIFF,
    paths: dropEmptyPaths(call.paths) ?? known?.paths ?? NO_PATHS,
  };
}

/** Some engines print an empty path; it is ignored. */
function dropEmptyPaths(paths: readonly string[] | undefined): readonly string[] | null {
  const nonEmpty = (paths ?? NO_PATHS).filter((path) => path !== '');
  return nonEmpty.length === 0 ? null : nonEmpty;
}

interface CallData {
  tool_call_id: string;
  name: string;
  input?: unknown;
  parent_tool_call_id?: string;
  diff?: readonly FileDiff[];
  locations?: readonly { readonly path: string }[];
}

interface EndData extends CallData {
  output?: unknown;
  exit_code?: number;
}

function toCallData(id: string, { name, input, parent, diff, paths }: OpenCall): CallData {
  const data: CallData = { tool_call_id: id, name };
  if (input !== undefined) data.input = input;
  if (parent !== null) data.parent_tool_call_id = parent;
  if (diff.length > 0) data.diff = diff;
  if (paths.length > 0) data.locations = paths.map((path) => ({ path }));
  return data;
}

function addResult(data: EndData, { output, exitCode }: ToolEnd): void {
  if (output !== undefined && output !== null) data.output = output;
  if (exitCode !== undefined && exitCode !== null) data.exit_code = exitCode;
}

export interface FileToolCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly paths: readonly string[];
  /** Other text in the call that can contain a path, such as a shell command. */
  readonly searchableText: string;
}

/** Limits on the calls and characters stored until the end, when the changed files are known; older calls are dropped. */
const MAX_FILE_CALLS = 2000;
const MAX_SEARCHABLE_TEXT = 4096;

/** Joins the strings in an input, one level deep, where tools put their commands and paths. */
function collectStrings(input: unknown): string {
  if (typeof input === 'string') return toForwardSlashes(copyStart(input, MAX_SEARCHABLE_TEXT));
  if (typeof input !== 'object' || input === null) return '';
  let searchableText = '';
  for (const value of Object.values(input)) {
    if (typeof value === 'string')
      searchableText += `${searchableText === '' ? '' : '\n'}${copyStart(value, MAX_SEARCHABLE_TEXT)}`;
  }
  return toForwardSlashes(copyStart(searchableText, MAX_SEARCHABLE_TEXT));
}

function toForwardSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
