import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button, CopyButton } from '../../ui/button.js';
import { parseOptions, schemaInput, inputText } from './workbench-state.js';
import { SafeText } from '../../ui/safe-text.js';
import type { InspectionInput, WorkbenchOptions } from './inspection.js';
import { parseStored } from '../../app/storage.js';
import { useAction } from '../../data/resource.js';
import { client } from '../../data/client.js';
import { saveAs } from '../run/artifact.js';
import type { Client } from '../../../src/server/client/index.js';

const ENVIRONMENTS: Readonly<Record<keyof CodeForResult, Readonly<{ name: string; help: ComponentChildren }>>> = {
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
  const code = createCode(
    { text: inputText.value, schemaText: schemaInput.value, options: parseOptions.value },
    location.origin,
  )[environment.value];
  return (
    <section class="card stack" aria-labelledby="workbench-code">
      <div class="row">
        <h2 id="workbench-code">Code for this result</h2>
        <span class="row" role="group" aria-label="Environment">
          {(['library', 'command', 'http'] as const).map((name) => (
            <Button
              label={ENVIRONMENTS[name].name}
              key={name}
              class="toggle"
              aria-pressed={environment.value === name}
              onClick={() => (environment.value = name)}
            />
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

/** Longer input is not inlined in the command, which then reads it from a file. */
const MAX_INLINE_LENGTH = 4000;
type CodeForResult = Readonly<{ library: string; command: string; http: string }>;

/** Creates the code that parses the workbench input elsewhere. */
export function createCode({ text, schemaText, options }: InspectionInput, origin: string): CodeForResult {
  const schema = schemaText.trim();
  return {
    library: createLibraryCode(schema, options),
    command: createCommandLine(schema !== '', options),
    http: createHttpRequest(text, schema, options, origin),
  };
}

/** Lists the options that differ from the defaults. Aligning needs a schema. */
function listChanged({ profile, allowPartial, align, ambiguous }: WorkbenchOptions, hasSchema: boolean) {
  return Object.entries({
    ...(profile !== 'default' && { profile }),
    ...(allowPartial && { allowPartial }),
    ...(align && hasSchema && { align }),
    ...(ambiguous !== null && { ambiguous }),
  });
}

/** Separates the words of a name: `allowPartial` becomes `allow-partial`. */
function splitName(name: string, separator: '-' | '_'): string {
  return name.replaceAll(/[A-Z]/g, (letter) => separator + letter.toLowerCase());
}

function createLibraryCode(schema: string, options: WorkbenchOptions): string {
  const changed = listChanged(options, schema !== '').map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  const input = [
    'text',
    ...(schema === '' ? (changed.length === 0 ? [] : ['undefined']) : ['schema']),
    ...(changed.length === 0 ? [] : [`{ ${changed.join(', ')} }`]),
  ];
  return [
    "import { parse } from 'sluice/json';",
    ...(schema === '' ? [] : ["import { fromJsonSchema } from 'sluice/json-schema';"]),
    '',
    ...(schema === '' ? [] : [`const schema = fromJsonSchema(${schema});`]),
    `const result = parse(${input.join(', ')});`,
    'if (result.ok) console.log(result.value, result.repairs);',
    "else if (result.status === 'failed') console.error(result.error.code, result.error.message);",
    '',
  ].join('\n');
}

function createCommandLine(hasSchema: boolean, options: WorkbenchOptions): string {
  const flags = listChanged(options, hasSchema).map(
    ([name, value]) => `--${splitName(name, '-')}${value === true ? '' : ` ${value}`}`,
  );
  return `${['sluice parse answer.txt', ...(hasSchema ? ['--schema schema.json'] : []), ...flags].join(' ')}\n`;
}

function createHttpRequest(text: string, schema: string, options: WorkbenchOptions, origin: string): string {
  const settings = listChanged(options, schema !== '').map(([name, value]) => [splitName(name, '_'), value] as const);
  const head = `curl -s ${origin}/v1/parse -H 'content-type: application/json'`;
  const parsed = parseStored(schema) ?? undefined;
  if (text.length + schema.length <= MAX_INLINE_LENGTH) {
    const body = { text, ...(parsed !== undefined && { schema: parsed }), ...Object.fromEntries(settings) };
    return `${head} -d ${quoteForShell(escapeNonAscii(JSON.stringify(body)))}\n`;
  }
  const fields = ['text: .', ...(parsed === undefined ? [] : ['schema: $schema[0]'])];
  const slurp = parsed === undefined ? '' : ' --slurpfile schema schema.json';
  const settingFields = settings.map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `jq -Rs${slurp} '{${[...fields, ...settingFields].join(', ')}}' answer.txt | ${head} -d @-\n`;
}

/** Escapes everything but printable ASCII, so a copied command does exactly what is shown. */
function escapeNonAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Quotes a string as one word for a POSIX shell. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

const MAX_CHARACTERS = 1_000_000;

function CaseButton() {
  const isPossible = inputText.value !== '' && inputText.value.length <= MAX_CHARACTERS;
  const save = useAction(async () => {
    const name = `answer-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    const input = { text: inputText.value, schemaText: schemaInput.value, options: parseOptions.value };
    saveAs(`${name}.tar`, await client.exportTextCase({ body: buildCaseRequest(name, input) }));
  });
  return (
    <>
      <Button
        label="Save as test case"
        disabled={!isPossible}
        title="Download a .tar to unpack in your suite folder, sluice-suite"
        onClick={save.run}
      />
      {save.failure === null ? null : <span role="alert">Cannot create a test case: {save.failure}</span>}
    </>
  );
}

type CaseBody = Parameters<Client['exportTextCase']>[0]['body'];

/** Builds the request for a suite case; throws if the case would have another result than the page. */
export function buildCaseRequest(name: string, input: InspectionInput): CaseBody {
  const { profile, allowPartial, align, ambiguous } = input.options;
  if (ambiguous !== null) {
    throw new Error('a case has no option "If ambiguous". Choose "Fail", then try again.');
  }
  const body = { name, text: input.text, profile, allow_partial: allowPartial };
  return input.schemaText.trim() === '' ? body : { ...body, schema: parseSchema(input.schemaText), align };
}

function parseSchema(schemaText: string): Readonly<Record<string, unknown>> {
  let schema: unknown;
  try {
    schema = JSON.parse(schemaText);
  } catch (cause) {
    throw new Error('the schema is not valid JSON. Correct it, then try again.', { cause });
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new Error('the schema must be an object. Change it, then try again.');
  }
  return { ...schema };
}
