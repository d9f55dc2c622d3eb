import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { query, setQuery } from '../app/router.js';

/** A filter stored in the query under `name`: one of a few options, or all. */
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
        <option value="">All</option>
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

/** How long after the last key press a search starts. */
const DEBOUNCE_MS = 250;

/** A filter stored in the query under `name`: free text, applied when typing pauses. */
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
  const lastText = useRef(value);
  // Typed text is overwritten only if Back, a link or a button changed the address. This must be a layout effect: a
  // regular effect runs after the next frame, when the timer could already have restored the old text.
  useLayoutEffect(() => {
    if (value === lastText.current) return;
    clearTimeout(timer.current);
    lastText.current = value;
    if (field.current !== null) field.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (text: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const next = text.trim();
      // A search is one history entry, no matter how often typing pauses.
      const isStep = (lastText.current === '') !== (next === '');
      lastText.current = next;
      setQuery({ [name]: next }, { isStep });
    }, DEBOUNCE_MS);
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
        onInput={(event) => apply(event.currentTarget.value)}
      />
    </label>
  );
}

/** A filter stored in the query under `name`: a day. `format` converts the value in the address to a date for the field. */
export function FilterDate({
  name,
  label,
  format,
}: {
  readonly name: string;
  readonly label: string;
  readonly format: (value: string) => string;
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

/** Removes all of these filters from the address. */
export function ClearFilters({ names }: { readonly names: readonly string[] }) {
  const isSet = names.some((name) => query.value.has(name));
  return (
    <button
      type="button"
      disabled={!isSet}
      onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, null])), { isStep: true })}
    >
      Clear filters
    </button>
  );
}
