import { computed, effect, signal } from '@preact/signals';
import { query, setQuery } from '../../app/router.js';
import { EXAMPLES } from './examples.js';
import type { Example } from './examples.js';
import type { Span, WorkbenchOptions } from './inspection.js';
import { readOptions, writeOptions } from './options-query.js';

const KEY = 'sluice.workbench';
/** Browsers keep about five million characters for a page; longer texts would push out everything else. */
const MAX_SAVED_LENGTH = 1_000_000;
const KEEP_AFTER_MS = 500;

interface Kept {
  readonly text: string;
  readonly schemaText: string;
  readonly isEditing: boolean;
}

const kept = readKept();

/** The text to parse. */
export const text = signal(kept.text);
/** The text of the JSON Schema; blank for none. */
export const schemaText = signal(kept.schemaText);
/** Whether the text is in a field to be changed, or shown with what was found in it. */
export const isEditing = signal(kept.isEditing);
/** The parse options, kept in the query so that they can be shared. */
export const options = computed(() => readOptions(query.value));
/** The place in the text that was asked for last. */
export const chosen = signal<Span | null>(null);
/** Whether the text comes back after the page is loaded again. */
export const isKept = computed(() => text.value.length + schemaText.value.length <= MAX_SAVED_LENGTH);

/** Puts a text in the place of the one before. */
export function setText(next: string): void {
  chosen.value = null;
  text.value = next;
}

/** Changes how the text is read. */
export function setOptions(changes: Partial<WorkbenchOptions>): void {
  chosen.value = null;
  setQuery(writeOptions({ ...options.value, ...changes }));
}

/** Shows a place of the text, or none. */
export function choose(span: Span | null): void {
  chosen.value = span;
  if (span !== null) isEditing.value = false;
}

/** Begins with an example. */
export function openExample(example: Example): void {
  setText(example.text);
  isEditing.value = false;
  schemaText.value = example.schemaText;
  setOptions(example.options);
}

/** Opens a shared case; its options are in the address. */
export function openCase({ text: shared, schemaText: schema }: Pick<Kept, 'text' | 'schemaText'>): void {
  setText(shared);
  schemaText.value = schema;
  isEditing.value = false;
}

/** Keeps text and schema for when the page is loaded again; who leaves in the middle of typing loses nothing. */
export function keepTexts(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    void [isKept.value, text.value, schemaText.value, isEditing.value];
    clearTimeout(timer);
    timer = setTimeout(keepNow, KEEP_AFTER_MS);
  });
  addEventListener('pagehide', keepNow);
  return () => {
    removeEventListener('pagehide', keepNow);
    clearTimeout(timer);
    stop();
    keepNow();
  };
}

function keepNow(): void {
  const now: Kept = {
    text: isKept.peek() ? text.peek() : '',
    schemaText: schemaText.peek(),
    isEditing: isEditing.peek(),
  };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(now));
  } catch {
    // A browser may forbid storage, or be out of space; then the text lasts until the page is closed.
  }
}

/** Reads the saved text, or the first example: a page with content is more helpful than a blank one. */
function readKept(): Kept {
  const [first] = EXAMPLES;
  const begin = { text: first?.text ?? '', schemaText: first?.schemaText ?? '', isEditing: false };
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    if (typeof found !== 'object' || found === null) return begin;
    const {
      text: keptText,
      schemaText: keptSchema,
      isEditing: wasEditing,
    } = found as Partial<Record<keyof Kept, unknown>>;
    return typeof keptText === 'string' && typeof keptSchema === 'string'
      ? { text: keptText, schemaText: keptSchema, isEditing: wasEditing === true }
      : begin;
  } catch {
    return begin;
  }
}
