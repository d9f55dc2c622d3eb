import { useSignal } from '@preact/signals';
import { query } from '../../app/router.js';
import { SafeText } from '../../ui/safe-text.js';
import { columns, OPTIONAL_COLUMNS, toggleColumn } from './run-columns.js';
import { loadViews, putView, storeViews } from './saved-views.js';
import type { SavedView } from './saved-views.js';

/** The built-in views. */
const BUILT_IN: readonly SavedView[] = [
  { name: 'Failed today', query: 'outcome=failed&since=today' },
  { name: 'Failed yesterday', query: 'outcome=failed&since=yesterday&until=yesterday' },
  { name: 'Running', query: 'state=running' },
];

/** Saved filters, and the choice of columns. */
export function ViewBar() {
  const views = useSignal(loadViews());
  const name = useSignal<string | null>(null);
  const isChoosing = useSignal(false);
  const current = query.value.toString();
  const save = (): void => {
    if (name.value === null || name.value.trim() === '') return;
    views.value = putView(views.value, { name: name.value, query: current });
    storeViews(views.value);
    name.value = null;
  };
  return (
    <div class="view-bar">
      <nav class="row" aria-label="Views">
        {[...BUILT_IN, ...views.value].map((view, index) => (
          <span key={view.name} class="view">
            <a href={`/runs?${view.query}`} aria-current={view.query === current ? 'true' : undefined}>
              <SafeText text={view.name} />
            </a>
            {index < BUILT_IN.length ? null : (
              <button
                type="button"
                class="link"
                aria-label={`Remove the view ${view.name}`}
                onClick={() => {
                  views.value = views.value.filter((saved) => saved !== view);
                  storeViews(views.value);
                }}
              >
                ×
              </button>
            )}
          </span>
        ))}
        {name.value === null ? (
          <button type="button" class="link" disabled={current === ''} onClick={() => (name.value = '')}>
            Save view
          </button>
        ) : (
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              save();
            }}
          >
            <input
              type="text"
              aria-label="View name"
              placeholder="Name"
              maxLength={60}
              value={name.value}
              ref={(field) => field?.focus()}
              onInput={({ currentTarget }) => (name.value = currentTarget.value)}
            />
            <button type="submit">Save</button>
            <button type="button" onClick={() => (name.value = null)}>
              Cancel
            </button>
          </form>
        )}
      </nav>
      <details class="column-choice" onToggle={({ currentTarget }) => (isChoosing.value = currentTarget.open)}>
        <summary>Columns</summary>
        <div class="column-list">
          {(isChoosing.value ? OPTIONAL_COLUMNS : []).map((column) => (
            <label key={column} class="row">
              <input type="checkbox" checked={columns.value.includes(column)} onChange={() => toggleColumn(column)} />
              {column}
            </label>
          ))}
        </div>
      </details>
    </div>
  );
}
