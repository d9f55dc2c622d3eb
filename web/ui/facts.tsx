import type { ComponentChildren } from 'preact';

/** A list of names and values; undefined values are skipped. */
export function Facts({ facts }: { readonly facts: Readonly<Record<string, ComponentChildren | undefined>> }) {
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
