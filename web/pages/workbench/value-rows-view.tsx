import { SafeText } from '../../ui/safe-text.js';
import type { ValueView } from './inspection.js';

/** A value, line by line, with what there is to say about each place. */
export function ValueRowsView({ value, label }: { readonly value: ValueView; readonly label: string }) {
  return (
    <div class="value-rows mono" role="region" aria-label={label} tabIndex={0}>
      {value.rows.map(({ depth, key, text, notes }, index) => (
        <div
          key={index}
          class={notes.length > 0 ? 'value-row noted' : 'value-row'}
          style={{ paddingLeft: indent(depth) }}
        >
          {key === null ? null : (
            <>
              <span class="value-key">
                <SafeText text={key} limit={300} />
              </span>
              {': '}
            </>
          )}
          <SafeText text={text} limit={1500} />
          {notes.map(({ kind, place, message }, number) => (
            <span key={number} class={`value-note ${kind}`}>
              <SafeText text={place === '' ? message : `${place}: ${message}`} limit={300} />
            </span>
          ))}
        </div>
      ))}
      {value.cut ? <div class="value-row dim">… more than is shown here</div> : null}
    </div>
  );
}

/** Deep values do not walk out of the page. */
function indent(depth: number): string {
  return `${Math.min(depth, 24) * 1.1 + 0.5}rem`;
}
