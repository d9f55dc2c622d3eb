import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { CaseButton } from './case-button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { sameInCode } from './same-in-code.js';
import type { SameInCode } from './same-in-code.js';
import { options, schemaText, text } from './workbench-state.js';
import { SafeText } from '../../ui/safe-text.js';

const PLACES: Readonly<Record<keyof SameInCode, { readonly name: string; readonly help: ComponentChildren }>> = {
  library: {
    name: 'Library',
    help: (
      <>
        <code>text</code> is the text above.
      </>
    ),
  },
  command: { name: 'Command line', help: 'Save the text as answer.txt and the schema as schema.json.' },
  http: { name: 'HTTP', help: 'A server with tokens also needs -H "authorization: Bearer …".' },
};

/** The same reading elsewhere, to be copied. */
export function CodePanel() {
  const place = useSignal<keyof SameInCode>('library');
  const code = sameInCode({ text: text.value, schemaText: schemaText.value, options: options.value }, location.origin)[
    place.value
  ];
  return (
    <section class="card stack" aria-labelledby="workbench-code">
      <div class="row">
        <h2 id="workbench-code">Code for this result</h2>
        <span class="row" role="group" aria-label="Environment">
          {(['library', 'command', 'http'] as const).map((name) => (
            <button
              key={name}
              type="button"
              class="toggle"
              aria-pressed={place.value === name}
              onClick={() => (place.value = name)}
            >
              {PLACES[name].name}
            </button>
          ))}
        </span>
        <span class="end row">
          <CaseButton />
          <CopyButton label="Copy" read={() => code} />
        </span>
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={PLACES[place.value].name}>
        <SafeText text={code} limit={6000} />
      </pre>
      <p class="help">{PLACES[place.value].help}</p>
    </section>
  );
}
