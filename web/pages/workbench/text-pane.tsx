import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { EXAMPLES } from './examples.js';
import { MarkedText } from './marked-text.js';
import type { TextReading } from './use-inspection.js';
import { isEditing, isStorable, openExample, setText, inputText } from './workbench-state.js';
import { Button } from '../../ui/button.js';

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
    refusal.value = explainTooLong('The output', next.length);
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
      refusal.value = `Cannot read ${file.name}: it may be a folder, or it was moved. Choose another file.`;
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
        <h2 id="workbench-text-name">Model output</h2>
        <span class="row either" role="group" aria-label="View">
          <Button
            label="Marked"
            class="toggle"
            aria-pressed={!isField}
            disabled={inputText.value === ''}
            onClick={showMarked}
          />
          <Button
            label="Edit"
            class="toggle"
            aria-pressed={isField}
            disabled={isReadOnly}
            title={isReadOnly ? 'Too long to edit here' : undefined}
            onClick={edit}
          />
        </span>
        <span class="end row">
          <label class="visually-hidden" for="workbench-example">
            Example
          </label>
          <select
            id="workbench-example"
            value=""
            onChange={({ currentTarget }) => {
              const example = EXAMPLES[Number(currentTarget.value)];
              const isChosen = currentTarget.value !== '';
              currentTarget.value = '';
              if (!isChosen || example === undefined) return;
              refusal.value = null;
              openExample(example);
            }}
          >
            <option value="">Examples …</option>
            {EXAMPLES.map(({ name }, index) => (
              <option key={name} value={index}>
                {name}
              </option>
            ))}
          </select>
          <label class="button file">
            Open file
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
            label="Clear"
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
          placeholder="Paste the output of a model or an agent, drop a file, or choose an example."
          value={inputText.value}
          onInput={({ currentTarget }) => acceptText(currentTarget.value)}
        />
      ) : (
        <MarkedText text={inputText.value} inspection={reading?.text === inputText.value ? reading.inspection : null} />
      )}
      <p class={refusal.value === null ? 'help' : 'help wrong'} role="status">
        {refusal.value ?? `${isStorable.value ? STORED : NOT_STORED} Nothing is sent to a server.`}
      </p>
    </section>
  );
}

const STORED = 'The output is kept in this tab.';
const NOT_STORED = 'The output is too long to be kept after a reload.';

function showMarked(): void {
  isEditing.value = false;
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
  return `${name} is ${megabytes} MB, but the workbench accepts only ${limit} MB. Use sluice parse on the command line.`;
}
