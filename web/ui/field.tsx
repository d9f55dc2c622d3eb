import type { ComponentChildren } from 'preact';

/** What a control of a {@link Field} has to carry so that its words belong to it. */
export interface FieldControl {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

/** A field of a form: its name, what it is for, and what is wrong with it, which takes the place of the help. */
export function Field({
  id,
  label,
  help,
  wrong,
  children,
}: {
  readonly id: string;
  readonly label: string;
  readonly help: ComponentChildren;
  readonly wrong?: string | undefined;
  readonly children: (control: FieldControl) => ComponentChildren;
}) {
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
      {options.map((option) => (
        <label key={option.value} class="explained">
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.isOff === true}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
          <span class="help">{option.help}</span>
        </label>
      ))}
      {wrong === undefined ? null : <p class="wrong">{wrong}</p>}
    </fieldset>
  );
}

/** Something to switch on, with what it means. */
export function Switch({
  label,
  help,
  isOn,
  onChange,
}: {
  readonly label: string;
  readonly help: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label class="explained">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
      <span class="help">{help}</span>
    </label>
  );
}
