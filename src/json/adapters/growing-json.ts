import type { Path } from '../index.js';

/** A container whose closing bracket is not written yet. */
interface OpenContainer {
  /** Key or index in the parent container. */
  readonly step: string | number;
  readonly content: object;
  /** Keys written so far; empty for an array, which needs only `count`. */
  readonly keys: Set<string>;
  count: number;
}

/** A growing string of at least this length is read less often. */
const LONG_STRING_LENGTH = 8192;

/**
 * Writes a growing value as append-only JSON. If a part that is already written changes (the answer in a later `<json>`
 * tag replaces it, or a key is repeated), the output has `diverged` and stops growing.
 */
export class GrowingJson {
  diverged = false;
  /** Everything returned so far. */
  readonly #chunks: string[] = [];
  /** The output of the current call. */
  #chunk = '';
  readonly #open: OpenContainer[] = [];
  /** The open string: its path and the part written so far. */
  #string: { readonly path: Path; written: string } | undefined;

  /**
   * Writes the additions to `root` at the paths in `changed`, which are in text order, and returns them. The end of a
   * long string can be deferred.
   */
  grow(root: unknown, changed: readonly Path[]): string {
    for (const path of changed) {
      if (this.diverged) break;
      this.#write(root, path);
    }
    return this.#endChunk();
  }

  /** Writes and returns the part of the open string that `grow` has deferred. */
  growOpenString(root: unknown): string {
    if (!this.diverged) this.#completeString(root);
    return this.#endChunk();
  }

  get isEmpty(): boolean {
    return this.#chunk === '' && this.#chunks.length === 0;
  }

  /** Everything written so far. */
  get text(): string {
    return this.#chunks.join('');
  }

  /** The quote and brackets that would complete the JSON now. */
  get closing(): string {
    const brackets = this.#open.map(({ content }) => (Array.isArray(content) ? ']' : '}')).toReversed();
    return `${this.#string === undefined ? '' : '"'}${brackets.join('')}`;
  }

  #write(root: unknown, path: Path): void {
    if (root === undefined) {
      this.diverged = !this.isEmpty;
      return;
    }
    // An empty `{}` or `[]` is not written yet: if prose follows, it was not the value.
    if (path.length === 0 && isEmptyContainer(root)) return;
    if (path.length > 0 && this.isEmpty) this.#startValue([], root);
    const value = getAt(root, path);
    if (this.#string !== undefined && isSamePath(this.#string.path, path)) {
      if (typeof value === 'string' && shouldDeferRead(value.length, this.#string.written.length)) return;
      return this.#growString(this.#string, value);
    }
    const open = this.#open[path.length];
    if (open !== undefined && open.content === value && this.#isOpenAt(path, path.length)) return;
    if (!this.#canAdd(path)) {
      this.diverged = true;
      return;
    }
    this.#completeString(root);
    if (this.diverged) return;
    this.#closeTo(path.length);
    this.#startEntry(this.#open[path.length - 1], path.at(-1) ?? '');
    this.#startValue(path, value);
  }

  /** Whether a path leads to a new entry in an open container. */
  #canAdd(path: Path): boolean {
    const container = this.#open[path.length - 1];
    if (container === undefined) return path.length === 0 && this.isEmpty;
    const step = path.at(-1);
    const isNew = typeof step === 'number' ? step === container.count : !container.keys.has(String(step));
    return isNew && this.#isOpenAt(path, path.length - 1);
  }

  /** Whether the first `depth` steps of a path lead through open containers. */
  #isOpenAt(path: Path, depth: number): boolean {
    for (let index = 0; index < depth; index += 1) if (this.#open[index + 1]?.step !== path[index]) return false;
    return true;
  }

  #startEntry(container: OpenContainer | undefined, step: string | number): void {
    if (container === undefined) return;
    if (container.count > 0) this.#chunk += ',';
    container.count += 1;
    if (typeof step === 'number') return;
    container.keys.add(step);
    this.#chunk += `${JSON.stringify(step)}:`;
  }

  #startValue(path: Path, value: unknown): void {
    if (typeof value === 'string') {
      this.#chunk += `"${escape(value)}`;
      this.#string = { path, written: value };
    } else if (typeof value === 'object' && value !== null) {
      this.#chunk += Array.isArray(value) ? '[' : '{';
      this.#open.push({ step: path.at(-1) ?? '', content: value, keys: new Set(), count: 0 });
    } else {
      this.#chunk += JSON.stringify(value);
    }
  }

  #growString(string: { readonly path: Path; written: string }, value: unknown): void {
    if (typeof value !== 'string' || !value.startsWith(string.written)) {
      this.diverged = true;
      return;
    }
    this.#chunk += escape(value.slice(string.written.length));
    string.written = value;
  }

  #completeString(root: unknown): void {
    if (this.#string !== undefined) this.#growString(this.#string, getAt(root, this.#string.path));
  }

  #endChunk(): string {
    const chunk = this.#chunk;
    if (chunk !== '') this.#chunks.push(chunk);
    this.#chunk = '';
    return chunk;
  }

  /** Closes the open string, and containers until only `depth` remain open. */
  #closeTo(depth: number): void {
    if (this.#string !== undefined) this.#chunk += '"';
    this.#string = undefined;
    while (this.#open.length > depth) this.#chunk += Array.isArray(this.#open.pop()?.content) ? ']' : '}';
  }
}

/**
 * Whether to wait until a string has grown more. Reading a growing string copies all of it, so long strings are read
 * less often.
 */
function shouldDeferRead(length: number, written: number): boolean {
  return written >= LONG_STRING_LENGTH && length - written < written / 64;
}

function isEmptyContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function isSamePath(left: Path, right: Path): boolean {
  return left.length === right.length && left.every((step, index) => step === right[index]);
}

function getAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
