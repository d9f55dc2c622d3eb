import { computed, effect, signal } from '@preact/signals';
import { query, setQuery } from '../../app/router.js';
import { EXAMPLES } from './examples.js';
import type { Example } from './examples.js';
import type { Span, WorkbenchOptions } from './inspection.js';
import { readOptions, toQuery } from './options-query.js';

const KEY = 'sluice.workbench';
/** Browsers store about five million characters per page; longer input would leave no room for anything else. */
const MAX_SAVED_LENGTH = 1_000_000;
const STORE_DELAY_MS = 500;

interface StoredInput {
  readonly text: string;
  readonly schemaText: string;
  readonly isEditing: boolean;
}

const stored = readStored();

/** The input to parse. */
export const text = signal(stored.text);
/** The JSON Schema as text; blank for none. */
export const schemaText = signal(stored.schemaText);
/** Whether the input is being edited; otherwise it is shown with the findings marked. */
export const isEditing = signal(stored.isEditing);
/** The parse options, stored in the query to make them shareable. */
export const options = computed(() => readOptions(query.value));
/** The selected part of the input. */
export const selectedSpan = signal<Span | null>(null);
/** Whether the input is short enough to be stored and restored after a reload. */
export const isStorable = computed(() => text.value.length + schemaText.value.length <= MAX_SAVED_LENGTH);

/** Replaces the input. */
export function setText(next: string): void {
  selectedSpan.value = null;
  text.value = next;
}

/** Changes the parse options. */
export function setOptions(changes: Partial<WorkbenchOptions>): void {
  selectedSpan.value = null;
  setQuery(toQuery({ ...options.value, ...changes }));
}

/** Selects a part of the input; null clears the selection. */
export function choose(span: Span | null): void {
  selectedSpan.value = span;
  if (span !== null) isEditing.value = false;
}

/** Opens an example. */
export function openExample(example: Example): void {
  setText(example.text);
  isEditing.value = false;
  schemaText.value = example.schemaText;
  setOptions(example.options);
}

/** Opens a shared case; its options are in the address. */
export function openCase({ text: shared, schemaText: schema }: Pick<StoredInput, 'text' | 'schemaText'>): void {
  setText(shared);
  schemaText.value = schema;
  isEditing.value = false;
}

/** Stores input and schema whenever they change, so they survive a reload. Returns a function that stops this. */
export function storeTexts(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    void [isStorable.value, text.value, schemaText.value, isEditing.value];
    clearTimeout(timer);
    timer = setTimeout(storeNow, STORE_DELAY_MS);
  });
  addEventListener('pagehide', storeNow);
  return () => {
    removeEventListener('pagehide', storeNow);
    clearTimeout(timer);
    stop();
    storeNow();
  };
}

function storeNow(): void {
  const now: StoredInput = {
    text: isStorable.peek() ? text.peek() : '',
    schemaText: schemaText.peek(),
    isEditing: isEditing.peek(),
  };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(now));
  } catch {
    // A browser may forbid storage, or be out of space; then the text lasts until the page is closed.
  }
}

/**
 * Reads the stored input; by default the first example, because a page with content is more helpful than a blank one.
 */
function readStored(): StoredInput {
  const [first] = EXAMPLES;
  const initial = { text: first?.text ?? '', schemaText: first?.schemaText ?? '', isEditing: false };
  try {
    const storedInput: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    if (typeof storedInput !== 'object' || storedInput === null) return initial;
    const {
      text: keptText,
      schemaText: keptSchema,
      isEditing: wasEditing,
    } = storedInput as Partial<Record<keyof StoredInput, unknown>>;
    return typeof keptText === 'string' && typeof keptSchema === 'string'
      ? { text: keptText, schemaText: keptSchema, isEditing: wasEditing === true }
      : initial;
  } catch {
    return initial;
  }
}
