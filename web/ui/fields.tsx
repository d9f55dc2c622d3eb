import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';

/** The attributes that connect a {@link Field}'s control to its label and help. */
interface FieldControl {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

/** A {@link Field}'s label, its help, and its error, which replaces the help. */
interface FieldLabels {
  readonly id: string;
  readonly label: string;
  readonly help: ComponentChildren;
  readonly error?: string | undefined;
}

/** A form field: label, help and control. */
function Field({
  id,
  label,
  help,
  error,
  children,
}: FieldLabels & { readonly children: (control: FieldControl) => ComponentChildren }) {
  const helpId = `${id}-help`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': helpId, 'aria-invalid': error !== undefined })}
      <p id={helpId} class={error === undefined ? 'help' : 'wrong'}>
        {error ?? help}
      </p>
    </div>
  );
}

/** A choice between a few options, each with an explanation. */
export function RadioField<Value extends string>({
  name,
  legend,
  value,
  error,
  options,
  onChange,
}: {
  readonly name: string;
  readonly legend: string;
  readonly value: string;
  readonly error?: string | undefined;
  readonly options: readonly {
    readonly value: Value;
    readonly label: string;
    readonly help: string;
    readonly isDisabled?: boolean;
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
              disabled={option.isDisabled === true}
              aria-describedby={`${id}-help`}
              onChange={() => onChange(option.value)}
            />
            <label for={id}>{option.label}</label>
            <span id={`${id}-help`} class="help">
              {option.help}
            </span>
          </div>
        );
      })}
      {error === undefined ? null : <p class="wrong">{error}</p>}
    </fieldset>
  );
}

/** A checkbox with an explanation. */
export function CheckboxField({
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
        aria-describedby={`${id}-help`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <span id={`${id}-help`} class="help">
        {help}
      </span>
    </div>
  );
}

/** A field's value and change callback. */
interface FieldValue {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

type OtherAttributes<Attributes> = Omit<Attributes, keyof FieldLabels | 'value' | 'onInput' | 'onChange'>;

/** A single-line text field. */
export function TextField({
  id,
  label,
  help,
  error,
  onChange,
  ...attributes
}: FieldLabels & FieldValue & OtherAttributes<InputHTMLAttributes>) {
  return (
    <Field id={id} label={label} help={help} error={error}>
      {(control) => <input {...attributes} {...control} onInput={(event) => onChange(event.currentTarget.value)} />}
    </Field>
  );
}

/** A multi-line text field. */
export function TextAreaField({
  id,
  label,
  help,
  error,
  onChange,
  ...attributes
}: FieldLabels & FieldValue & OtherAttributes<TextareaHTMLAttributes>) {
  return (
    <Field id={id} label={label} help={help} error={error}>
      {(control) => <textarea {...attributes} {...control} onInput={(event) => onChange(event.currentTarget.value)} />}
    </Field>
  );
}

/** A drop-down field; its children are the options. */
export function SelectField({
  id,
  label,
  help,
  error,
  value,
  onChange,
  children,
}: FieldLabels & FieldValue & { readonly children: ComponentChildren }) {
  return (
    <Field id={id} label={label} help={help} error={error}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {children}
        </select>
      )}
    </Field>
  );
}

/** Splits input with one entry per line; empty lines are dropped. */
export function splitLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
