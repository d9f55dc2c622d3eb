import { computed, effect, signal } from '@preact/signals';
import { query, setQuery } from '../../app/router.js';
import { isObject, parseStored, readStored, writeStored } from '../../app/storage.js';
import { EXAMPLES, DEFAULT_OPTIONS, type Example } from './examples.js';
import type { Span, WorkbenchOptions } from './inspection.js';
import { isProfile } from '../../ui/parts.js';

const KEY = 'sluice.workbench';
/** Browsers store about five million characters per page; longer input would leave no room for anything else. */
const MAX_SAVED_LENGTH = 1_000_000;
const STORE_DELAY_MS = 500;
type StoredInput = Readonly<{ text: string; schemaText: string; isEditing: boolean }>;
const stored = readInput();

export const inputText = signal(stored.text);
/** The JSON Schema as text; blank for none. */
export const schemaInput = signal(stored.schemaText);
/** Whether the input is being edited; otherwise it is shown with the findings marked. */
export const isEditing = signal(stored.isEditing);
/** The parse options, stored in the query to make them shareable. */
export const parseOptions = computed(() => readOptions(query.value));
export const selectedSpan = signal<Span | null>(null);
/** Whether the input is short enough to be stored and restored after a reload. */
export const isStorable = computed(() => inputText.value.length + schemaInput.value.length <= MAX_SAVED_LENGTH);

export function setText(next: string): void {
  selectedSpan.value = null;
  inputText.value = next;
}

export function setOptions(changes: Partial<WorkbenchOptions>): void {
  selectedSpan.value = null;
  setQuery(toQuery({ ...parseOptions.value, ...changes }));
}

export function choose(span: Span | null): void {
  selectedSpan.value = span;
  if (span !== null) isEditing.value = false;
}

export function openExample(example: Example): void {
  setText(example.text);
  isEditing.value = false;
  schemaInput.value = example.schemaText;
  setOptions(example.options);
}

/** Opens a shared case; its options are in the address. */
export function openCase({ text: shared, schemaText: schema }: Pick<StoredInput, 'text' | 'schemaText'>): void {
  setText(shared);
  schemaInput.value = schema;
  isEditing.value = false;
}

export function readCase(): Pick<StoredInput, 'text' | 'schemaText'> {
  return { text: inputText.value, schemaText: schemaInput.value };
}

/** Stores input and schema whenever they change, so they survive a reload. Returns a function that stops this. */
export function storeTexts(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    void [isStorable.value, inputText.value, schemaInput.value, isEditing.value];
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
    text: isStorable.peek() ? inputText.peek() : '',
    schemaText: schemaInput.peek(),
    isEditing: isEditing.peek(),
  };
  writeStored(KEY, JSON.stringify(now), 'session');
}

function readInput(): StoredInput {
  const [first] = EXAMPLES;
  const initial = { text: first?.text ?? '', schemaText: first?.schemaText ?? '', isEditing: false };
  const storedInput = parseStored(readStored(KEY, 'session'));
  if (!isObject(storedInput)) return initial;
  const { text, schemaText, isEditing: wasEditing } = storedInput;
  if (typeof text !== 'string' || typeof schemaText !== 'string') return initial;
  return { text, schemaText, isEditing: wasEditing === true };
}

export function readOptions(address: URLSearchParams): WorkbenchOptions {
  const profile = address.get('profile') ?? '';
  const ambiguous = address.get('ambiguous');
  return {
    profile: isProfile(profile) ? profile : DEFAULT_OPTIONS.profile,
    allowPartial: address.get('partial') === 'yes',
    align: address.get('align') === 'yes',
    ambiguous: ambiguous === 'first' || ambiguous === 'last' ? ambiguous : null,
  };
}

/** Converts the options to query parameters; default values are omitted. */
export function toQuery({ profile, allowPartial, align, ambiguous }: WorkbenchOptions): Record<string, string | null> {
  return {
    profile: profile === DEFAULT_OPTIONS.profile ? null : profile,
    partial: allowPartial ? 'yes' : null,
    align: align ? 'yes' : null,
    ambiguous,
  };
}
