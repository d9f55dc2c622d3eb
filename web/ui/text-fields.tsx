import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { Field } from './field.js';
import type { FieldWords } from './field.js';

/** The text that stands in a field, and what becomes of another. */
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
