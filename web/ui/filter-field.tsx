import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { query, setQuery } from '../app/router.js';

/** A filter kept in the query under `name`: one of a few words, or all. */
export function FilterChoice({
  name,
  label,
  options,
}: {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (string | { readonly value: string; readonly label: string })[];
}) {
  return (
    <label>
      {label}
      <select
        value={query.value.get(name) ?? ''}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value }, { isStep: true })}
      >
        <option value="">all</option>
        {options.map((option) => {
          const { value, label: shown } = typeof option === 'string' ? { value: option, label: option } : option;
          return (
            <option key={value} value={value}>
              {shown}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** How long after the last key a search begins. */
const PAUSE_MS = 250;

/** A filter kept in the query under `name`: free text, applied when typing pauses. */
export function FilterText({
  name,
  label,
  type = 'text',
  placeholder = '',
}: {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'search' | 'date';
  readonly placeholder?: string;
}) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const value = query.value.get(name) ?? '';
  const own = useRef(value);
  // What is typed is the person's: only an address that changed by itself (back, a link, a button) is taken over. At once:
  // after the next frame, the timer could already have put the old words back.
  useLayoutEffect(() => {
    if (value === own.current) return;
    clearTimeout(timer.current);
    own.current = value;
    if (field.current !== null) field.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (text: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const next = text.trim();
      // One step for a search, however often the typing pauses.
      const isStep = (own.current === '') !== (next === '');
      own.current = next;
      setQuery({ [name]: next }, { isStep });
    }, PAUSE_MS);
  };
  return (
    <label>
      {label}
      <input
        ref={field}
        type={type}
        placeholder={placeholder}
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        defaultValue={value}
        onInput={(event) => take(event.currentTarget.value)}
      />
    </label>
  );
}

/** A filter kept in the query under `name`: a day. `format` formats other values of the address for the field. */
export function FilterDate({
  name,
  label,
  format,
}: {
  readonly name: string;
  readonly label: string;
  readonly format: (word: string) => string;
}) {
  return (
    <label>
      {label}
      <input
        type="date"
        value={format(query.value.get(name) ?? '')}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value }, { isStep: true })}
      />
    </label>
  );
}

/** Takes all filters of these names out of the address. */
export function ClearFilters({ names }: { readonly names: readonly string[] }) {
  const isSet = names.some((name) => query.value.has(name));
  return (
    <button
      type="button"
      disabled={!isSet}
      onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, null])), { isStep: true })}
    >
      Clear
    </button>
  );
}
