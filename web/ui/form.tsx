import { useSignal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes, TargetedKeyboardEvent, TextareaHTMLAttributes } from 'preact';
import { useRef } from 'preact/hooks';
import { hasScope } from '../app/session.js';
import { ClientError } from '../../src/server/client/index.js';
import { asFailure, type Resource } from '../data/resource.js';
import { FailureNotice, Loading, Notice, ReadOnly, Button } from './parts.js';
import { useDraft, type DraftFields } from './use-draft.js';
import { t } from '../app/texts.js';

export type FieldErrors<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/** Why the server refused a form: messages per field, and a message for the rest. */
export interface Refusal<Field extends string> {
  readonly code: string;
  readonly errors: FieldErrors<Field>;
  /** Null if the field messages cover everything. */
  readonly message: string | null;
  /** Whether the server refused. Without a valid response, the request might have been executed. */
  readonly isCertain: boolean;
}

/** Maps the paths and codes of the server's problems to the fields of a form. */
export type FieldMap<Field extends string> = Readonly<Record<'paths' | 'codes', Readonly<Record<string, Field>>>>;

/** Assigns the server's problems to form fields: by the path of each issue, or else by code. */
export function readRefusal<Field extends string>(error: unknown, { paths, codes }: FieldMap<Field>): Refusal<Field> {
  const { code, message } = asFailure(error);
  const errors: Partial<Record<Field, string>> = {};
  const field = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (field !== undefined) errors[field] = message;
  const issues = error instanceof ClientError ? (error.problem?.issues ?? []) : [];
  const unassigned = issues.filter((issue) => {
    const assigned = findField(issue.path, paths);
    if (assigned === undefined) return true;
    errors[assigned] ??= issue.message;
    return false;
  });
  const isAssigned = Object.keys(errors).length > 0 && unassigned.length === 0;
  const status = error instanceof ClientError ? error.status : null;
  return { code, errors, message: isAssigned ? null : message, isCertain: status !== null && status < 500 };
}

/** Finds the field for a path, or for its nearest ancestor with a field. */
function findField<Field extends string>(path: string, paths: Readonly<Record<string, Field>>): Field | undefined {
  for (let steps = path.split('.'); steps.length > 0; steps = steps.slice(0, -1)) {
    const parentPath = steps.join('.');
    if (Object.hasOwn(paths, parentPath)) return paths[parentPath];
  }
  return undefined;
}

/** An option of a drop-down field: its value, or a value with a different label. */
export type Option = string | Readonly<{ value: string; label: string }>;

function Options({ options }: Readonly<{ options: readonly Option[] }>) {
  return (
    <>
      {options.map((option) => {
        const { value, label } = typeof option === 'string' ? { value: option, label: option } : option;
        return (
          <option key={value} value={value}>
            {label}
          </option>
        );
      })}
    </>
  );
}

/** A drop-down field that is applied at once. Without a label, it is inside a label element. */
export function Select(props: {
  readonly label?: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <select
      aria-label={props.label}
      value={props.value}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    >
      <Options options={props.options} />
    </select>
  );
}

/** An option of a choice that explains each option. */
export type RadioOption = readonly [value: string, label: string, help: string, isDisabled?: boolean];

export interface FormPart<Fields extends DraftFields> {
  readonly fields: Fields;
  readonly errors: FieldErrors<string & keyof Fields>;
  readonly edit: (changes: Partial<Fields>) => void;
}

/** Binds fields to a form: each function renders a field. An error replaces its help; `prefix` makes ids unique. */
export function bindFields<Fields extends DraftFields>({ fields, errors, edit }: FormPart<Fields>, prefix = '') {
  type Name = string & keyof Fields;
  const set = (name: Name, value: string | boolean): void =>
    // The value has the type of its field: text for all controls except the checkbox.
    edit({ [name]: value } as unknown as Partial<Fields>);
  const connect = (name: Name) => ({
    id: prefix + name,
    'aria-describedby': `${prefix}${name}-help`,
    'aria-invalid': errors[name] !== undefined,
    value: String(fields[name]),
  });
  const frame = (name: Name, label: string, help: ComponentChildren, control: ComponentChildren) => (
    <div class="field">
      <label for={prefix + name}>{label}</label>
      {control}
      <p id={`${prefix}${name}-help`} class={errors[name] === undefined ? 'help' : 'wrong'}>
        {errors[name] ?? help}
      </p>
    </div>
  );
  return {
    text: (name: Name, label: string, help: ComponentChildren, attributes: InputHTMLAttributes = {}) =>
      frame(
        name,
        label,
        help,
        <input
          type="text"
          {...attributes}
          {...connect(name)}
          onInput={({ currentTarget }) => set(name, currentTarget.value)}
        />,
      ),
    area: (name: Name, label: string, help: ComponentChildren, attributes: TextareaHTMLAttributes = {}) =>
      frame(
        name,
        label,
        help,
        <textarea {...attributes} {...connect(name)} onInput={({ currentTarget }) => set(name, currentTarget.value)} />,
      ),
    select: (name: Name, label: string, help: ComponentChildren, options: readonly Option[]) =>
      frame(
        name,
        label,
        help,
        <select {...connect(name)} onChange={({ currentTarget }) => set(name, currentTarget.value)}>
          <Options options={options} />
        </select>,
      ),
    radio: (name: Name, legend: string, options: readonly RadioOption[]) => (
      <fieldset>
        <legend>{legend}</legend>
        {options.map(([value, label, help, isDisabled = false]) => (
          <Explained key={value} id={`${prefix}${name}-${value}`} label={label} help={help}>
            <input
              type="radio"
              id={`${prefix}${name}-${value}`}
              name={prefix + name}
              value={value}
              checked={value === fields[name]}
              disabled={isDisabled}
              aria-describedby={`${prefix}${name}-${value}-help`}
              onChange={() => set(name, value)}
            />
          </Explained>
        ))}
        {errors[name] === undefined ? null : <p class="wrong">{errors[name]}</p>}
      </fieldset>
    ),
    check: (name: Name, label: string, help: string) => (
      <Explained id={prefix + name} label={label} help={help}>
        <input
          type="checkbox"
          id={prefix + name}
          checked={fields[name] === true}
          aria-describedby={`${prefix}${name}-help`}
          onChange={({ currentTarget }) => set(name, currentTarget.checked)}
        />
      </Explained>
    ),
  };
}

function Explained(props: Readonly<{ id: string; label: string; help: string; children: ComponentChildren }>) {
  return (
    <div class="explained">
      {props.children}
      <label for={props.id}>{props.label}</label>
      <span id={`${props.id}-help`} class="help">
        {props.help}
      </span>
    </div>
  );
}

/** A part of a long form that can be closed. */
export function FormCard(
  props: Readonly<{ title: string; note?: string; isOpen?: boolean; children: ComponentChildren }>,
) {
  return (
    <details class="card" open={props.isOpen ?? false}>
      <summary>
        <strong>{props.title}</strong> <span class="dim">{props.note}</span>
      </summary>
      <div class="stack">{props.children}</div>
    </details>
  );
}

/** Splits input with one entry per line; empty lines are dropped. */
export function splitLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Returns the fields that are set: undefined and empty ones are omitted. */
export function omitUnset<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  // Every key keeps its type, except undefined.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as {
    [Key in keyof Fields]?: Exclude<Fields[Key], undefined>;
  };
}

/** The fields of a form that edits a record: the path in the record, and the value that the record gives the field. */
type FieldTable<Source> = Readonly<
  Record<string, Readonly<{ path: string | null; read: (source: Source) => string | boolean }>>
>;

export type FormOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly read: (...source: never[]) => infer Value }
    ? Value
    : never;
};

export function fillForm<Source, Table extends FieldTable<Source>>(table: Table, source: Source): FormOf<Table> {
  const values = Object.entries(table).map(([name, { read }]) => [name, read(source)]);
  // Every field has the type that its own function returns.
  return Object.fromEntries(values) as FormOf<Table>;
}

/** Maps the record's paths to fields, for the problems that the server reports. */
export function mapPaths<Table extends FieldTable<never>>(
  table: Table,
): Readonly<Record<string, string & keyof Table>> {
  const pairs = Object.entries(table).flatMap(([name, { path }]) => (path === null ? [] : [[path, name]]));
  return Object.fromEntries(pairs) as Readonly<Record<string, string & keyof Table>>;
}

/**
 * Submits a form if it has no errors. Server errors are shown next to their fields; the first field with an error gets
 * the focus. The request id is stored before sending, so resubmitting the same form, even after a reload, repeats the
 * same request. `defaults` fill empty fields that the user has not edited.
 */
export function useRequestForm<Fields extends DraftFields & { readonly requestId: string }, Request>(input: {
  readonly draft: string;
  readonly initial: Fields;
  readonly defaults: Partial<Fields>;
  readonly check: (fields: Fields) => {
    readonly request: Request;
    readonly errors: FieldErrors<string & keyof Fields>;
  };
  readonly fieldMap: FieldMap<string & keyof Fields>;
  readonly send: (request: Request & { readonly request_id: string }) => Promise<void>;
}) {
  const { fields: draft, change, discard } = useDraft(input.draft, input.initial);
  const editedNames = useSignal<readonly string[]>([]);
  const refusal = useSignal<Refusal<string & keyof Fields> | null>(null);
  const wasSubmitted = useSignal(false);
  const isSending = useSignal(false);
  const ref = useRef<HTMLFormElement>(null);
  const isDefault = (name: string): boolean => draft[name] === '' && !editedNames.value.includes(name);
  const fields: Fields = {
    ...draft,
    ...Object.fromEntries(Object.entries(input.defaults).filter(([name]) => isDefault(name))),
  };
  const { request, errors } = input.check(fields);
  const submit = async (): Promise<void> => {
    // A second click can arrive before the button is disabled.
    if (isSending.peek()) return;
    wasSubmitted.value = true;
    refusal.value = null;
    if (Object.keys(errors).length === 0) {
      isSending.value = true;
      try {
        const requestId = fields.requestId || newRequestId();
        change({ ...fields, requestId });
        await input.send({ ...request, request_id: requestId });
        discard();
        return;
      } catch (error) {
        refusal.value = readRefusal(error, input.fieldMap);
      } finally {
        isSending.value = false;
      }
    }
    requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };
  return {
    ref,
    fields,
    // No field is marked before the first submit, while the user is still filling it in.
    errors: wasSubmitted.value ? { ...refusal.value?.errors, ...errors } : ({} as FieldErrors<string & keyof Fields>),
    refusal: refusal.value,
    isSending: isSending.value,
    edit: (changes: Partial<Fields>): void => {
      editedNames.value = [...editedNames.value, ...Object.keys(changes)];
      change({ ...changes, requestId: '' });
      // The refusal was about the previous values.
      refusal.value = null;
    },
    submit: (event: Event): void => {
      event.preventDefault();
      void submit();
    },
    reset: (): void => {
      editedNames.value = [];
      discard();
    },
  };
}

/** Creates a unique request id. Not `randomUUID`, which browsers offer only on secure connections. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The layout of a form that submits a request: its columns, why it was refused, the buttons, and its effect. */
export function RequestFormView<Fields extends DraftFields & { readonly requestId: string }>(props: {
  readonly form: ReturnType<typeof useRequestForm<Fields, unknown>>;
  readonly choices: Resource<unknown>;
  readonly texts: {
    /** Completes "a token that has this scope to …". */
    readonly purpose: string;
    readonly failureTitle: string;
    /** Shown if the server did not respond and the request might have been executed. */
    readonly unansweredTitle: string;
    readonly submit: string;
    readonly sending: string;
    readonly effect: string;
  };
  readonly children: ComponentChildren;
}) {
  const { form, choices, texts, children } = props;
  const { refusal, errors, isSending } = form;
  if (!hasScope('run')) return <ReadOnly scope="run" purpose={texts.purpose} />;
  if (choices.value === null && choices.failure === null) return <Loading />;
  return (
    <form ref={form.ref} class="long-form stack" noValidate onSubmit={form.submit} onKeyDown={submitByKey}>
      {choices.failure === null ? null : (
        <FailureNotice title={t.cannotLoadTheChoicesFor} failure={choices.failure} reload={choices.reload}>
          {t.yourInputIsKept}
        </FailureNotice>
      )}
      <div class="form-columns">
        {children}
        <div class="form-end-place">
          <div aria-live="assertive">
            {typeof refusal?.message === 'string' ? (
              <Notice tone="bad" title={refusal.isCertain ? texts.failureTitle : texts.unansweredTitle}>
                {refusal.message} <code>{refusal.code}</code>
              </Notice>
            ) : null}
            {Object.keys(errors).length > 0 ? <p class="wrong">{t.correctFields(texts.failureTitle)}</p> : null}
          </div>
          <div class="row">
            <button type="submit" class="primary" disabled={isSending}>
              {isSending ? texts.sending : texts.submit}
            </button>
            <Button label={t.resetForm} onClick={form.reset} />
            <span class="dim">{texts.effect}</span>
          </div>
        </div>
      </div>
    </form>
  );
}

/** Only Ctrl+Enter submits: Enter alone, in one of many fields, could be a slip. */
export function submitByKey(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.target instanceof HTMLElement)) return;
  const isSubmit = event.ctrlKey || event.metaKey;
  if (isSubmit || event.target.tagName === 'INPUT') event.preventDefault();
  if (isSubmit) event.currentTarget.requestSubmit();
}
