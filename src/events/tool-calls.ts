import type { EventWriter } from './event-writer.js';
import { FileTouches } from './file-touches.js';
import { omitMissing } from './omit-missing.js';
import type { ToolEndReport, ToolFailureReport, ToolReport } from './report.js';

interface OpenCall {
  readonly name: string;
  readonly input: unknown;
  readonly parent: string | null;
}

/** Calls that may be open at once; more are forgotten, oldest first, and told as unfinished. */
const MAX_OPEN = 4096;

/** A result without its start may not say whose it is. */
const UNNAMED = 'unknown';

/** Pairs the starts and ends of tool calls by id, so that every end has exactly one start. */
export class ToolCalls {
  readonly #writer: EventWriter;
  readonly #open = new Map<string, OpenCall>();
  readonly touches = new FileTouches();
  #any = false;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  get any(): boolean {
    return this.#any;
  }

  start(call: ToolReport): void {
    // Told again while it is open: engines repeat a start when they fill in its input.
    if (this.#open.has(call.id)) return this.#remember(call);
    this.#any = true;
    if (this.#open.size >= MAX_OPEN) this.#forget();
    this.#remember(call);
    const opened = this.#open.get(call.id);
    this.#writer.write('tool.call.started', callData(call.id, opened, call), { tool_call_id: call.id });
  }

  complete(call: ToolEndReport): void {
    const opened = this.#end(call);
    this.#writer.write(
      'tool.call.completed',
      { ...callData(call.id, opened, call), ...endData(call) },
      { tool_call_id: call.id },
    );
  }

  fail(call: ToolFailureReport): void {
    const opened = this.#end(call);
    this.#writer.write(
      'tool.call.failed',
      { ...callData(call.id, opened, call), error: call.error, ...endData(call) },
      { tool_call_id: call.id },
    );
  }

  /** Warns about calls whose end never came. */
  endAll(): void {
    for (const [id, { name }] of this.#open) this.#warnUnfinished(id, name);
    this.#open.clear();
  }

  #end(call: ToolEndReport): OpenCall | undefined {
    if (!this.#open.has(call.id)) {
      this.start(call);
      if (call.startDerived !== true) {
        this.#writer.write('diagnostic.parser.warning', {
          code: 'TOOL_CALL_START_MISSING',
          message: `The result of tool call ${call.id} came without its start; the start was derived from it.`,
          subject: call.id,
        });
      }
    }
    const opened = this.#open.get(call.id);
    this.#remember(call);
    this.#open.delete(call.id);
    return opened;
  }

  #remember(call: ToolReport): void {
    const known = this.#open.get(call.id);
    const name = call.name ?? known?.name ?? UNNAMED;
    const input = call.input ?? known?.input;
    this.#open.set(call.id, { name, input, parent: call.parent ?? known?.parent ?? null });
    this.touches.add({ toolCallId: call.id, name, paths: call.paths ?? [], input: call.input });
  }

  #forget(): void {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    this.#open.delete(oldest[0]);
    this.#warnUnfinished(oldest[0], oldest[1].name);
  }

  #warnUnfinished(id: string, name: string): void {
    this.#writer.write(
      'diagnostic.parser.warning',
      { code: 'TOOL_CALL_UNFINISHED', message: `Tool call ${id} (${name}) was started and never ended.`, subject: id },
      { tool_call_id: id },
    );
  }
}

function callData(id: string, opened: OpenCall | undefined, call: ToolReport) {
  return {
    tool_call_id: id,
    name: call.name ?? opened?.name ?? UNNAMED,
    ...omitMissing({ input: call.input ?? opened?.input, parent_tool_call_id: call.parent ?? opened?.parent }),
  };
}

function endData(call: ToolEndReport) {
  return omitMissing({ output: call.output, exit_code: call.exitCode });
}
