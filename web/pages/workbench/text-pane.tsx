import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { EXAMPLES } from './examples.js';
import type { TextReading } from './use-inspection.js';
import { isEditing, isStorable, openExample, setText, inputText, choose, selectedSpan } from './workbench-state.js';
import { Button } from '../../ui/parts.js';
import { SafeText, formatCount } from '../../ui/text.js';
import type { Inspection, Span } from './inspection.js';
import { t } from './texts.js';

/** Longer input makes a textarea slow, so it is shown read-only. */
const MAX_EDITABLE_LENGTH = 100_000;

/** The input, such as a model's output: typed, pasted, dropped or from a file, with the findings marked. */
export function TextPane({ reading }: Readonly<{ reading: TextReading | null }>) {
  const field = useRef<HTMLTextAreaElement>(null);
  const openingFile = useRef<File | null>(null);
  const refusal = useSignal<string | null>(null);
  const isDraggedOver = useSignal(false);
  const isReadOnly = inputText.value.length > MAX_EDITABLE_LENGTH;
  // There is nothing to mark in empty input.
  const isField = !isReadOnly && (isEditing.value || inputText.value === '');

  const acceptText = (next: string): void => {
    refusal.value = explainTooLong(t.theOutput, next.length);
    if (refusal.value === null) setText(next);
  };
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    refusal.value = explainTooLong(file.name, file.size);
    if (refusal.value !== null) return;
    openingFile.current = file;
    try {
      const content = await readFile(file);
      if (openingFile.current !== file) return;
      acceptText(content);
      isEditing.value = false;
    } catch {
      refusal.value = t.cannotReadItMayBe(file.name);
    }
  };
  const edit = (): void => {
    isEditing.value = true;
    requestAnimationFrame(() => field.current?.focus());
  };

  // Text pasted outside any field replaces the input. Long text is not pasted into the field, because that would take
  // seconds.
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => {
      const isInField = event.target === field.current;
      if (!isInField && event.target instanceof Element && event.target.closest('input, textarea, select') !== null)
        return;
      const pastedText = event.clipboardData?.getData('text') ?? '';
      if (pastedText === '' || (isInField && pastedText.length <= MAX_EDITABLE_LENGTH)) return;
      event.preventDefault();
      acceptText(pastedText);
      isEditing.value = false;
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, []);

  return (
    <section
      class={isDraggedOver.value ? 'card pane text-pane over' : 'card pane text-pane'}
      aria-labelledby="workbench-text-name"
      onDragOver={(event) => {
        event.preventDefault();
        isDraggedOver.value = true;
      }}
      onDragLeave={() => (isDraggedOver.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isDraggedOver.value = false;
        const { files = null } = event.dataTransfer ?? {};
        if (files !== null && files.length > 0) void open(files[0]);
        else acceptText(event.dataTransfer?.getData('text') ?? '');
      }}
    >
      <div class="row">
        <h2 id="workbench-text-name">{t.modelOutput}</h2>
        <span class="row either" role="group" aria-label={t.view}>
          <Button
            label={t.marked}
            class="toggle"
            aria-pressed={!isField}
            disabled={inputText.value === ''}
            onClick={() => (isEditing.value = false)}
          />
          <Button
            label={t.edit}
            class="toggle"
            aria-pressed={isField}
            disabled={isReadOnly}
            title={isReadOnly ? t.tooLongToEditHere : undefined}
            onClick={edit}
          />
        </span>
        <span class="end row">
          <ExampleSelect
            id="workbench-example"
            label={t.example}
            title={t.examples}
            examples={EXAMPLES}
            onChoose={(example) => {
              refusal.value = null;
              openExample(example);
            }}
          />
          <label class="button file">
            {t.openFile}
            <input
              type="file"
              class="visually-hidden"
              onChange={({ currentTarget }) => {
                void open(currentTarget.files?.[0]);
                currentTarget.value = '';
              }}
            />
          </label>
          <Button
            label={t.clear}
            onClick={() => {
              acceptText('');
              edit();
            }}
          />
        </span>
      </div>
      {isField ? (
        <textarea
          ref={field}
          class="mono body"
          aria-labelledby="workbench-text-name"
          spellcheck={false}
          autocomplete="off"
          placeholder={t.pasteTheOutputOfA}
          value={inputText.value}
          onInput={({ currentTarget }) => acceptText(currentTarget.value)}
        />
      ) : (
        <MarkedText text={inputText.value} inspection={reading?.text === inputText.value ? reading.inspection : null} />
      )}
      <p class={refusal.value === null ? 'help' : 'help wrong'} role="status">
        {refusal.value ?? (isStorable.value ? t.kept : t.notKept)}
      </p>
    </section>
  );
}

/** A list of examples to choose from. It shows its title again afterwards, because the example can then be edited. */
export function ExampleSelect<Example extends { readonly name: string }>(props: {
  readonly id: string;
  readonly label: string;
  readonly title: string;
  readonly examples: readonly Example[];
  readonly onChoose: (example: Example) => void;
}) {
  const { id, label, title, examples, onChoose } = props;
  return (
    <select
      id={id}
      aria-label={label}
      value=""
      onChange={({ currentTarget }) => {
        const example = examples.find(({ name }) => name === currentTarget.value);
        currentTarget.value = '';
        if (example !== undefined) onChoose(example);
      }}
    >
      <option value="">{title}</option>
      {examples.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

/** The number of bytes decoded at a time, which takes a few milliseconds. */
const SLICE_BYTES = 1024 * 1024;

/** Reads a file as text in slices: decoding many megabytes at a time would block the page. */
export async function readFile(file: Blob): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let start = 0; start < file.size; start += SLICE_BYTES) {
    const bytes = await file.slice(start, start + SLICE_BYTES).arrayBuffer();
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** The maximum input length. Parsing needs up to sixty times as much memory, and a page gets a few gigabytes. */
export const MAX_TEXT_LENGTH = 16 * 1024 * 1024;

/** Explains why input of this length is not accepted; null if it is. */
export function explainTooLong(name: string, length: number): string | null {
  if (length <= MAX_TEXT_LENGTH) return null;
  // Rounded up, so a rejected size is always shown as larger than the limit.
  const megabytes = Math.ceil((length / 1024 / 1024) * 10) / 10;
  const limit = MAX_TEXT_LENGTH / 1024 / 1024;
  return t.isMbButTheWorkbench(name, megabytes, limit);
}

const NONE = { items: [], total: 0 };
const NOTHING_FOUND: Found = { candidates: NONE, repairs: NONE, notes: NONE };
type Found = Pick<Inspection, 'candidates' | 'repairs' | 'notes'>;

/** The input, or a window of a long input, with candidates outlined and all repairs and issues marked. */
function MarkedText({ text, inspection }: Readonly<{ text: string; inspection: Inspection | null }>) {
  const box = useRef<HTMLPreElement>(null);
  // Until the input is parsed, it is shown without marks.
  const { candidates, repairs, notes } = inspection ?? NOTHING_FOUND;
  const focus = selectedSpan.value ?? {
    start: candidates.items.find(({ state }) => state === 'selected')?.start ?? 0,
    end: 0,
  };
  const window = chooseWindow(text.length, focus.start);
  const move = (direction: 1 | -1): void => {
    const start = moveWindow(window, text.length, direction);
    choose({ start, end: start });
  };
  const segments = markText(text, window, {
    candidates: candidates.items,
    repairs: repairs.items,
    notes: notes.items.map(({ span }) => span),
    chosen: selectedSpan.value,
  });
  useEffect(() => {
    const selected = box.current?.querySelector<HTMLElement>('.chosen');
    if (box.current === null || selected === null || selected === undefined) return;
    // Only the box scrolls, not the page.
    box.current.scrollTop = selected.offsetTop - box.current.clientHeight / 3;
  }, [selectedSpan.value]);
  return (
    <div class="body marked-frame">
      <pre class="marked" ref={box} tabIndex={0} role="region" aria-label={t.modelOutputWithFindingsMarked}>
        {segments.map((segment) => (
          <Part key={segment.start} segment={segment} found={{ candidates, repairs, notes }} />
        ))}
      </pre>
      {window.end - window.start < text.length ? (
        <div class="row">
          <Button label={t.previous} disabled={window.start === 0} onClick={() => move(-1)} />
          <span class="dim">
            {t.window(formatCount(window.start), formatCount(window.end), formatCount(text.length))}
          </span>
          <Button label={t.next} disabled={window.end === text.length} onClick={() => move(1)} />
        </div>
      ) : null}
    </div>
  );
}

function Part({ segment, found }: Readonly<{ segment: Segment; found: Found }>) {
  const { candidates, repairs, notes } = found;
  const candidate = segment.candidate === null ? undefined : candidates.items[segment.candidate];
  const note = segment.note === null ? undefined : notes.items[segment.note];
  const classes = [
    // The whole input is not outlined if it was rejected, because parts of it can still match.
    candidate === undefined || (candidate.finder === 'whole' && candidate.state !== 'selected')
      ? ''
      : `candidate ${candidate.state}`,
    note === undefined ? '' : `noted ${note.kind}`,
    segment.chosen ? 'chosen' : '',
  ];
  return (
    <span class={classes.filter((name) => name !== '').join(' ')} title={note?.message}>
      {segment.starts.map((number) => (
        <span key={number} class={`candidate-mark ${candidates.items[number]?.state ?? ''}`}>
          {number + 1} {candidates.items[number]?.finder}
        </span>
      ))}
      {segment.repairs.map((number) => {
        const repair = repairs.items[number];
        if (repair === undefined) return null;
        return (
          <mark key={number} class="repair-mark" title={`${repair.kind}: ${t.repairKinds[repair.kind]}`}>
            {number + 1}
          </mark>
        );
      })}
      <SafeText text={segment.text} />
    </span>
  );
}

type Segment = ReturnType<typeof markText>[number];

/** The ranges to mark. The numbers in a {@link Segment} are indexes into these lists. */
interface Marks {
  readonly candidates: readonly Span[];
  readonly repairs: readonly { readonly offset: number }[];
  readonly notes: readonly (Span | null)[];
  readonly chosen: Span | null;
}

const WINDOW_LENGTH = 6000;

/** Returns the part to draw: all of a short input, otherwise a window around the selection. */
export function chooseWindow(length: number, chosen: number): Span {
  if (length <= WINDOW_LENGTH) return { start: 0, end: length };
  const start = Math.max(0, Math.min(length - WINDOW_LENGTH, chosen - WINDOW_LENGTH / 4));
  return { start, end: start + WINDOW_LENGTH };
}

/** The number of characters to move a window by: less than its length, so windows overlap. */
const WINDOW_STEP = 5500;

/** Returns the position to pass to {@link chooseWindow} for the next or the previous window. */
export function moveWindow({ start }: Span, length: number, direction: 1 | -1): number {
  return Math.max(0, Math.min(length, start + direction * WINDOW_STEP + WINDOW_LENGTH / 4));
}

/** Splits a part of the input wherever a mark starts or ends. The joined segments equal the part. */
export function markText(text: string, window: Span, { candidates, repairs, notes, chosen }: Marks) {
  const { start, end } = window;
  const locatedNotes = notes.filter((note) => note !== null);
  const spans = [...candidates, ...locatedNotes, ...(chosen === null ? [] : [chosen])];
  const cuts = new Set([
    start,
    ...spans.flatMap((span) => [span.start, span.end]),
    ...repairs.map((repair) => repair.offset),
  ]);
  const starts = [...cuts]
    .filter((cut) => cut >= start && (cut < end || cut === start))
    .sort((one, other) => one - other);
  return starts.map((from, index) => {
    const contains = (span: Span): boolean => span.start <= from && from < span.end;
    return {
      start: from,
      text: text.slice(from, starts[index + 1] ?? end),
      candidate: findInnermost(candidates, contains),
      starts: findIndexes(candidates, (candidate) => candidate.start === from),
      repairs: findIndexes(
        repairs,
        (repair) => repair.offset === from || (from === starts.at(-1) && repair.offset === end),
      ),
      note: findInnermost(notes, (note) => note !== null && contains(note)),
      chosen: chosen !== null && (contains(chosen) || (chosen.start === chosen.end && chosen.start === from)),
    };
  });
}

function findInnermost(spans: readonly (Span | null)[], contains: (span: Span) => boolean): number | null {
  let best: number | null = null;
  let shortest = Infinity;
  for (const [number, span] of spans.entries()) {
    if (span === null || !contains(span) || span.end - span.start >= shortest) continue;
    best = number;
    shortest = span.end - span.start;
  }
  return best;
}

function findIndexes<Item>(items: readonly Item[], matches: (item: Item) => boolean): readonly number[] {
  return items.flatMap((item, number) => (matches(item) ? [number] : []));
}
