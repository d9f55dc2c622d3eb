import type { WorkbenchOptions } from './inspection.js';

/** Longer input is not inlined in the command, which then reads it from a file. */
const MAX_INLINE_LENGTH = 4000;

/** Code that parses the same input: in TypeScript, in a shell, over HTTP. */
export interface CodeForResult {
  readonly library: string;
  readonly command: string;
  readonly http: string;
}

/** Creates the code that parses the workbench input elsewhere. */
export function createCode(
  {
    text,
    schemaText,
    options,
  }: { readonly text: string; readonly schemaText: string; readonly options: WorkbenchOptions },
  origin: string,
): CodeForResult {
  const schema = schemaText.trim();
  return {
    library: createLibraryCode(schema, options),
    command: createCommandLine(schema !== '', options),
    http: createHttpRequest(text, schema, options, origin),
  };
}

function createLibraryCode(schema: string, options: WorkbenchOptions): string {
  const optionsCode = formatOptions(options, schema !== '');
  if (schema === '') {
    const otherArguments = optionsCode === '' ? '' : `, undefined, ${optionsCode}`;
    return `import { parse } from 'sluice/json';\n\nconst result = parse(text${otherArguments});\n${RESULT_LINES}`;
  }
  return [
    "import { parse } from 'sluice/json';",
    "import { fromJsonSchema } from 'sluice/json-schema';",
    '',
    `const schema = fromJsonSchema(${schema});`,
    `const result = parse(text, schema${optionsCode === '' ? '' : `, ${optionsCode}`});`,
    RESULT_LINES,
  ].join('\n');
}

const RESULT_LINES = [
  'if (result.ok) console.log(result.value, result.repairs);',
  "else if (result.status === 'failed') console.error(result.error.code, result.error.message);",
  '',
].join('\n');

function formatOptions({ profile, allowPartial, align, prefer }: WorkbenchOptions, hasSchema: boolean): string {
  const parts = [
    ...(profile === 'default' ? [] : [`profile: '${profile}'`]),
    ...(allowPartial ? ['allowPartial: true'] : []),
    ...(align && hasSchema ? ['align: true'] : []),
    ...(prefer === null ? [] : [`prefer: '${prefer}'`]),
  ];
  return parts.length === 0 ? '' : `{ ${parts.join(', ')} }`;
}

function createCommandLine(hasSchema: boolean, { profile, allowPartial, align, prefer }: WorkbenchOptions): string {
  const words = [
    'sluice parse answer.txt',
    ...(hasSchema ? ['--schema schema.json'] : []),
    ...(profile === 'default' ? [] : [`--profile ${profile}`]),
    ...(allowPartial ? ['--allow-partial'] : []),
    ...(align && hasSchema ? ['--align'] : []),
    ...(prefer === null ? [] : [`--prefer ${prefer}`]),
  ];
  return `${words.join(' ')}\n`;
}

function createHttpRequest(
  text: string,
  schema: string,
  { profile, allowPartial, align, prefer }: WorkbenchOptions,
  origin: string,
): string {
  const settings = {
    ...(profile !== 'default' && { profile }),
    ...(allowPartial && { allow_partial: true }),
    ...(align && schema !== '' && { align: true }),
    ...(prefer !== null && { prefer }),
  };
  const head = `curl -s ${origin}/v1/parse -H 'content-type: application/json'`;
  const parsed = readSchema(schema);
  if (text.length + schema.length <= MAX_INLINE_LENGTH) {
    const body = { text, ...(parsed !== undefined && { schema: parsed }), ...settings };
    return `${head} -d ${quoteForShell(escapeNonAscii(JSON.stringify(body)))}\n`;
  }
  const fields = ['text: .', ...(parsed === undefined ? [] : ['schema: $schema[0]'])];
  const slurp = parsed === undefined ? '' : ' --slurpfile schema schema.json';
  const settingFields = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `jq -Rs${slurp} '{${[...fields, ...settingFields].join(', ')}}' answer.txt | ${head} -d @-\n`;
}

function readSchema(schema: string): unknown {
  try {
    return schema === '' ? undefined : JSON.parse(schema);
  } catch {
    return undefined;
  }
}

/** Escapes everything but printable ASCII, so a copied command does exactly what is shown. */
function escapeNonAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Quotes a string as one word for a POSIX shell. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
