import { SafeText } from '../../ui/safe-text.js';
import type { ItemView } from './describe-item.js';
import { ValueText } from './value-text.js';

/** What a tool was asked and what it gave back. */
export function ToolCall({ view }: { readonly view: Extract<ItemView, { kind: 'tool' }> }) {
  return (
    <>
      {view.input === undefined ? null : <ValueText value={plainInput(view.input)} limit={300} />}
      {view.error === null ? null : (
        <p class="tool-error">
          <SafeText text={view.error} limit={1000} />
        </p>
      )}
      {view.output === undefined || view.output === '' ? null : (
        <details>
          <summary>Output</summary>
          <ValueText value={view.output} limit={2000} />
        </details>
      )}
    </>
  );
}

/** What has one field that is a text is read as that text: `npm test` says as much as `{ "command": "npm test" }`. */
function plainInput(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const values = Object.values<unknown>({ ...input });
  const [only] = values;
  return values.length === 1 && typeof only === 'string' ? only : input;
}
