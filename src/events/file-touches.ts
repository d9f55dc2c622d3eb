import { beginningOf } from './text-beginning.js';

/** A tool call that may have changed files. */
interface Touch {
  readonly toolCallId: string;
  readonly name: string;
  /** Files the call names as its own. */
  readonly paths: readonly string[];
  /** What else it says, in which a path may stand: a shell command. */
  readonly mention: string;
}

/** Who made a file. */
export interface MadeBy {
  readonly tool_call_id: string;
  readonly name: string;
}

/** Calls and characters kept for the end, when it is known which files changed; older calls are forgotten. */
const MAX_TOUCHES = 2000;
const MAX_MENTION = 4096;

/** Remembers which tool calls spoke of which files. */
export class FileTouches {
  #touches: Touch[] = [];

  add(call: { toolCallId: string; name: string; paths: readonly string[]; input: unknown }): void {
    const mention = mentionOf(call.input);
    if (call.paths.length === 0 && mention === '') return;
    this.#touches.push({ toolCallId: call.toolCallId, name: call.name, paths: call.paths.map(slashes), mention });
    if (this.#touches.length > 2 * MAX_TOUCHES) this.#touches = this.#touches.slice(-MAX_TOUCHES);
  }

  /**
   * The call that made a change. One that names the file as its own counts before one that only mentions it: the
   * first for a new file, the last for others. Of those that mention it the first counts, later ones may only look.
   */
  whoMade(path: string, change: 'created' | 'modified' | 'deleted'): MadeBy | null {
    const owners = this.#touches.filter((touch) => touch.paths.some((own) => isSamePath(own, path)));
    const owner = change === 'created' ? owners[0] : owners.at(-1);
    const maker = owner ?? this.#touches.find((touch) => mentions(touch.mention, path));
    return maker === undefined ? null : { tool_call_id: maker.toolCallId, name: maker.name };
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

function isSamePath(own: string, path: string): boolean {
  return own === path || own.endsWith(`/${path}`);
}

/** The path stands in the text as a whole: `a.md` is not in `data.md`, but in `/w/a.md`. */
function mentions(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    if (!NAME_PART.test(text.charAt(at - 1)) && !NAME_PART.test(text.charAt(at + path.length))) return true;
  }
  return false;
}

const NAME_PART = /[\w.-]/u;

function slashes(path: string): string {
  return path.replaceAll('\\', '/');
}
