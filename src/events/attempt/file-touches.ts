import { beginningOf } from './text-beginning.js';

/** A tool call that may have changed files. */
export interface Touch {
  readonly toolCallId: string;
  readonly name: string;
  /** Files the call names as its own. */
  readonly paths: readonly string[];
  /** What else it says, in which a path may stand: a shell command. */
  readonly mention: string;
}

/** Calls and characters kept for the end, when it is known which files changed; older calls are forgotten. */
const MAX_TOUCHES = 2000;
const MAX_MENTION = 4096;

/** Remembers which tool calls spoke of which files. */
export class FileTouches {
  #touches: Touch[] = [];

  /** What is remembered, oldest first. */
  get all(): readonly Touch[] {
    return this.#touches;
  }

  add(call: { toolCallId: string; name: string; paths: readonly string[]; input: unknown }): void {
    const mention = mentionOf(call.input);
    if (call.paths.length === 0 && mention === '') return;
    this.#touches.push({ toolCallId: call.toolCallId, name: call.name, paths: call.paths.map(slashes), mention });
    if (this.#touches.length > 2 * MAX_TOUCHES) this.#touches = this.#touches.slice(-MAX_TOUCHES);
  }
}

/** The strings of an input, one level deep: tools take their commands and paths there. */
function mentionOf(input: unknown): string {
  if (typeof input === 'string') return slashes(beginningOf(input, MAX_MENTION));
  if (typeof input !== 'object' || input === null) return '';
  let mention = '';
  for (const value of Object.values(input)) {
    if (typeof value === 'string') mention += `${mention === '' ? '' : '\n'}${beginningOf(value, MAX_MENTION)}`;
  }
  return slashes(beginningOf(mention, MAX_MENTION));
}

function slashes(path: string): string {
  return path.replaceAll('\\', '/');
}
