import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';

/** The attributes a control of a {@link Field} needs so that its label and help belong to it. */
interface FieldControl {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

/** The words of a {@link Field}: its name, its help, and its error, which replaces the help. */
interface FieldWords {
  readonly id: string;
  readonly label: string;
  readonly help: ComponentChildren;
  readonly wrong?: string | undefined;
}

/** A field of a form: its words, and the control they belong to. */
function Field({
  id,
  label,
  help,
  wrong,
  children,
}: FieldWords & { readonly children: (control: FieldControl) => ComponentChildren }) {
  const words = `${id}-words`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': words, 'aria-invalid': wrong !== undefined })}
      <p id={words} class={wrong === undefined ? 'help' : 'wrong'}>
        {wrong ?? help}
      </p>
    </div>
  );
}

/** One of a few, each with what it means. */
export function Choices<Value extends string>({
  name,
  legend,
  value,
  wrong,
  options,
  onChange,
}: {
  readonly name: string;
  readonly legend: string;
  readonly value: string;
  readonly wrong?: string | undefined;
  readonly options: readonly {
    readonly value: Value;
    readonly label: string;
    readonly help: string;
    readonly isOff?: boolean;
  }[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {options.map((option) => {
        const id = `${name}-${option.value}`;
        return (
          <div key={option.value} class="explained">
            <input
              type="radio"
              id={id}
              name={name}
              value={option.value}
              checked={option.value === value}
              disabled={option.isOff === true}
              aria-describedby={`${id}-words`}
              onChange={() => onChange(option.value)}
            />
            <label for={id}>{option.label}</label>
            <span id={`${id}-words`} class="help">
              {option.help}
            </span>
          </div>
        );
      })}
      {wrong === undefined ? null : <p class="wrong">{wrong}</p>}
    </fieldset>
  );
}

/** Something to switch on, with what it means. */
export function Switch({
  id,
  label,
  help,
  isOn,
  onChange,
}: {
  readonly id: string;
  readonly label: string;
  readonly help: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <div class="explained">
      <input
        type="checkbox"
        id={id}
        checked={isOn}
        aria-describedby={`${id}-words`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <span id={`${id}-words`} class="help">
        {help}
      </span>
    </div>
  );
}

/** The value of a field, and what to do when it changes. */
interface Written {
  readonly value: string;
  readonly onWrite: (text: string) => void;
}

type Look<Attributes> = Omit<Attributes, keyof FieldWords | 'value' | 'onInput'>;

/** A field for one line. */
export function LineField({
  id,
  label,
  help,
  wrong,
  onWrite,
  ...look
}: FieldWords & Written & Look<InputHTMLAttributes>) {
  return (
    <Field id={id} label={label} help={help} wrong={wrong}>
      {(control) => <input {...look} {...control} onInput={(event) => onWrite(event.currentTarget.value)} />}
    </Field>
  );
}

/** A field for several lines. */
export function LinesField({
  id,
  label,
  help,
  wrong,
  onWrite,
  ...look
}: FieldWords & Written & Look<TextareaHTMLAttributes>) {
  return (
    <Field id={id} label={label} help={help} wrong={wrong}>
      {(control) => <textarea {...look} {...control} onInput={(event) => onWrite(event.currentTarget.value)} />}
    </Field>
  );
}

/** A field for one of a list; its children are the options. */
export function ListField({
  id,
  label,
  help,
  wrong,
  value,
  onWrite,
  children,
}: FieldWords & Written & { readonly children: ComponentChildren }) {
  return (
    <Field id={id} label={label} help={help} wrong={wrong}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onWrite(event.currentTarget.value)}>
          {children}
        </select>
      )}
    </Field>
  );
}

/** The entries of a field with one entry per line; empty lines are dropped. */
export function splitLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
