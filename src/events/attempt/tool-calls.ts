import type { ToolCall, ToolEnd } from '../engines/fact.js';
import type { RaspData } from '../protocol/rasp-event.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { copyStart } from './engine-error.js';

/** The data of a call's events. What is known about an open call is the data of its start. */
type CallData = Writable<RaspData<'tool.call.started'>>;
type EndData = Writable<RaspData<'tool.call.completed'>>;
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Limit on open calls stored with their input; beyond it, only the name and parent of the oldest are kept. */
const MAX_OPEN = 4096;
/** Limit on older open calls; beyond it, the oldest is reported as unfinished. */
const MAX_REDUCED_CALLS = 16_384;

/** The name of a call whose result was printed without its start and without a name. */
const UNKNOWN_NAME = 'unknown';

/** Pairs the starts and ends of tool calls by id, so every end has exactly one start. */
export class ToolCalls {
  readonly #writer: EventWriter;
  readonly #open = new Map<string, CallData>();
  /** Older open calls, without their input, diff and paths. */
  readonly #reducedCalls = new Map<string, CallData>();
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
    this.#writer.write('tool.call.started', merged, { tool_call_id: call.id });
  }

  /** Returns the details of a call for a permission request, merged with earlier reports. */
  describe(call: ToolCall): Pick<CallData, 'name' | 'input' | 'diff' | 'locations'> {
    const { tool_call_id: _, parent_tool_call_id: _parent, ...known } = merge(this.#find(call.id), call);
    return known;
  }

  complete(call: ToolEnd): void {
    this.#writer.write('tool.call.completed', this.#end(call), { tool_call_id: call.id });
  }

  fail(call: ToolEnd & { readonly error: string }): void {
    this.#writer.write('tool.call.failed', { ...this.#end(call), error: call.error }, { tool_call_id: call.id });
  }

  endAll(): void {
    for (const [id, { name }] of [...this.#reducedCalls, ...this.#open]) this.#warnUnfinished(id, name);
    this.#reducedCalls.clear();
    this.#open.clear();
  }

  #end(call: ToolEnd): EndData {
    if (this.#find(call.id) === undefined) {
      this.start(call);
      if (call.startDerived !== true) this.#warnStartMissing(call.id);
    }
    const existing = this.#find(call.id);
    const data: EndData = merge(existing, call);
    this.#open.delete(call.id);
    this.#reducedCalls.delete(call.id);
    if (existing?.input === undefined) this.#addFileCall(call, data.name);
    if (call.output !== undefined && call.output !== null) data.output = call.output;
    if (call.exitCode !== undefined && call.exitCode !== null) data.exit_code = call.exitCode;
    return data;
  }

  #addFileCall({ id, paths = [], input }: ToolCall, name: string): void {
    const searchableText = collectStrings(input);
    if (paths.length === 0 && searchableText === '') return;
    this.fileCalls.push({ toolCallId: id, name, paths: paths.map(toForwardSlashes), searchableText });
    if (this.fileCalls.length > 2 * MAX_FILE_CALLS) this.fileCalls = this.fileCalls.slice(-MAX_FILE_CALLS);
  }

  #find(id: string): CallData | undefined {
    return this.#open.get(id) ?? this.#reducedCalls.get(id);
  }

  /** Keeps only what the oldest call's end needs. Otherwise the end would get a second start without a name. */
  #reduceOldest(): void {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    const [id, { input: _, diff: _diff, locations: _locations, ...reduced }] = oldest;
    this.#open.delete(id);
    this.#reducedCalls.set(id, reduced);
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

function merge(known: CallData | undefined, call: ToolCall): CallData {
  const data: CallData = { tool_call_id: call.id, name: call.name ?? known?.name ?? UNKNOWN_NAME };
  const input = call.input ?? known?.input;
  const parent = call.parent ?? known?.parent_tool_call_id;
  const diff = call.diff ?? known?.diff ?? [];
  // Some engines print an empty path; it is ignored.
  const paths = call.paths?.filter((path) => path !== '') ?? [];
  const locations = paths.length > 0 ? paths.map((path) => ({ path })) : known?.locations;
  if (input !== undefined) data.input = input;
  if (parent !== undefined) data.parent_tool_call_id = parent;
  if (diff.length > 0) data.diff = diff;
  if (locations !== undefined) data.locations = locations;
  return data;
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
