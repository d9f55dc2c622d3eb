import { useRef } from 'preact/hooks';
import { SCHEMA_EXAMPLES } from './examples.js';
import type { SchemaProblem } from './inspection.js';
import { formatLineAndColumn } from './locate-path.js';
import { schemaText } from './workbench-state.js';

/** The JSON Schema editor, with any error and its location. */
export function SchemaEditor({ problem }: { readonly problem: SchemaProblem | null }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const goTo = (offset: number): void => {
    field.current?.focus();
    field.current?.setSelectionRange(offset, Math.min(offset + 1, schemaText.value.length));
  };
  return (
    <section class="card pane" aria-label="Schema">
      <div class="row">
        <h2>
          <label for="workbench-schema">JSON Schema</label>
        </h2>
        <span class="end row">
          <label class="visually-hidden" for="workbench-schema-example">
            Example schema
          </label>
          <select
            id="workbench-schema-example"
            value=""
            onChange={({ currentTarget }) => {
              const example = SCHEMA_EXAMPLES[Number(currentTarget.value)];
              if (currentTarget.value !== '' && example !== undefined) schemaText.value = example.schemaText;
              currentTarget.value = '';
            }}
          >
            <option value="">Schemas …</option>
            {SCHEMA_EXAMPLES.map(({ name }, index) => (
              <option key={name} value={index}>
                {name}
              </option>
            ))}
          </select>
        </span>
      </div>
      <textarea
        ref={field}
        id="workbench-schema"
        class="mono body"
        spellcheck={false}
        autocomplete="off"
        placeholder="Draft 2020-12. If empty, any JSON is accepted."
        aria-invalid={problem !== null}
        aria-describedby="workbench-schema-problem"
        value={schemaText.value}
        onInput={({ currentTarget }) => (schemaText.value = currentTarget.value)}
      />
      <p class={problem === null ? 'help' : 'help wrong'} id="workbench-schema-problem" role="status">
        {problem === null
          ? 'The schema decides which candidate is selected. It is evaluated in this page, without eval.'
          : problem.message}
        {problem !== null && problem.offset !== null ? (
          <>
            {' '}
            <button type="button" class="link" onClick={() => goTo(problem.offset ?? 0)}>
              {formatLineAndColumn(schemaText.value, problem.offset)}
            </button>
          </>
        ) : null}
      </p>
    </section>
  );
}
