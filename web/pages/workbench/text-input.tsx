import { useSignal } from '@preact/signals';
import { EXAMPLES } from './examples.js';
import { isKept, openExample, setText, text } from './workbench-state.js';

/** A field with more than this no longer follows the keys: such a text is held beside it, and only read. */
const LONGEST_EDITED = 100_000;
/** The most that is taken from a file or the clipboard. */
const LONGEST_TEXT = 15 * 1024 * 1024;

/** Where the output of a model is put in: typed, pasted, dropped or opened. */
export function TextInput() {
  const refusal = useSignal<string | null>(null);
  const isOver = useSignal(false);

  const take = (next: string): void => {
    refusal.value = next.length > LONGEST_TEXT ? tooLong('The text', next.length) : null;
    if (refusal.value === null) setText(next);
  };
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > LONGEST_TEXT) {
      refusal.value = tooLong(file.name, file.size);
      return;
    }
    try {
      take(await file.text());
    } catch {
      refusal.value = `${file.name} could not be read. Is it a folder, or was it moved?`;
    }
  };

  const isHeld = text.value.length > LONGEST_EDITED;
  return (
    <section
      class={isOver.value ? 'card stack text-input over' : 'card stack text-input'}
      aria-label="Output of a model"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        const { files = null } = event.dataTransfer ?? {};
        if (files !== null && files.length > 0) void open(files[0]);
        else take(event.dataTransfer?.getData('text') ?? '');
      }}
    >
      <div class="row">
        <label for="workbench-text">Output of a model</label>
        <span class="end row">
          <label class="unseen" for="workbench-example">
            Example
          </label>
          <select
            id="workbench-example"
            value=""
            onChange={({ currentTarget }) => {
              const example = EXAMPLES[Number(currentTarget.value)];
              currentTarget.value = '';
              refusal.value = null;
              if (example !== undefined) openExample(example);
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
              class="unseen"
              onChange={({ currentTarget }) => {
                void open(currentTarget.files?.[0]);
                currentTarget.value = '';
              }}
            />
          </label>
          <button type="button" onClick={() => take('')}>
            Clear
          </button>
        </span>
      </div>
      {isHeld ? (
        <div class="held" id="workbench-text" tabIndex={0} role="group" aria-label="Output of a model">
          <strong>{text.value.length.toLocaleString('en')} characters</strong>
          <p class="dim">
            Too long to edit here. It is read as it is; below, the part around a chosen place is shown. Drop another
            file, or clear it.
          </p>
        </div>
      ) : (
        <textarea
          id="workbench-text"
          class="mono"
          rows={14}
          spellcheck={false}
          autocomplete="off"
          placeholder="Paste what a model or an agent printed, drop a file here, or choose an example."
          value={text.value}
          onInput={({ currentTarget }) => take(currentTarget.value)}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData('text') ?? '';
            if (pasted.length <= LONGEST_EDITED) return;
            event.preventDefault();
            take(pasted);
          }}
        />
      )}
      <p class="help" role="status">
        {refusal.value ??
          (isKept.value
            ? 'Stays in this tab, also when the page is loaded again. Nothing is sent unless you say so.'
            : 'Too long to be kept when the page is loaded again. Nothing is sent unless you say so.')}
      </p>
    </section>
  );
}

function tooLong(name: string, length: number): string {
  return `${name} has ${megabytes(length)}; the workbench takes ${megabytes(LONGEST_TEXT)}. On the command line, sluice parse takes more.`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`;
}
