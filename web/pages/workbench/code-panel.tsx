import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { CaseButton } from './case-button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { createCode } from './code-for-result.js';
import type { CodeForResult } from './code-for-result.js';
import { options, schemaText, text } from './workbench-state.js';
import { SafeText } from '../../ui/safe-text.js';

const ENVIRONMENTS: Readonly<Record<keyof CodeForResult, { readonly name: string; readonly help: ComponentChildren }>> =
  {
    library: {
      name: 'Library',
      help: (
        <>
          <code>text</code> is the model output above.
        </>
      ),
    },
    command: { name: 'Command line', help: 'Save the model output as answer.txt and the schema as schema.json.' },
    http: { name: 'HTTP', help: 'A server with tokens also needs -H "authorization: Bearer …".' },
  };

/** Code to copy that parses the same input outside the console. */
export function CodePanel() {
  const environment = useSignal<keyof CodeForResult>('library');
  const code = createCode({ text: text.value, schemaText: schemaText.value, options: options.value }, location.origin)[
    environment.value
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
              aria-pressed={environment.value === name}
              onClick={() => (environment.value = name)}
            >
              {ENVIRONMENTS[name].name}
            </button>
          ))}
        </span>
        <span class="end row">
          <CaseButton />
          <CopyButton label="Copy" read={() => code} />
        </span>
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={ENVIRONMENTS[environment.value].name}>
        <SafeText text={code} limit={6000} />
      </pre>
      <p class="help">{ENVIRONMENTS[environment.value].help}</p>
    </section>
  );
}
