import type { ComponentChildren } from 'preact';

/** What is known of something, name by name; what is undefined is left out. */
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
