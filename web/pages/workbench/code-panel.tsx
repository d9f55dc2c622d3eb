import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button, CopyButton, Sentence } from '../../ui/parts.js';
import { parseOptions, schemaInput, inputText } from './workbench-state.js';
import { SafeText } from '../../ui/text.js';
import type { InspectionInput, WorkbenchOptions } from './inspection.js';
import { isObject, parseStored } from '../../app/storage.js';
import { useEffect } from 'preact/hooks';
import { t } from './texts.js';

const ENVIRONMENTS: Readonly<Record<keyof CodeForResult, Readonly<{ name: string; help: string }>>> = {
  library: { name: t.asLibrary, help: t.textIsTheOutput },
  command: { name: t.commandLine, help: t.saveTheModelOutputAs },
  http: { name: t.http, help: t.aServerWithTokensAlso },
};

export function CodePanel({ server, children }: Readonly<{ server: string; children: ComponentChildren }>) {
  const environment = useSignal<keyof CodeForResult>('library');
  const code = createCode(
    { text: inputText.value, schemaText: schemaInput.value, options: parseOptions.value },
    server,
  )[environment.value];
  return (
    <section class="card stack" aria-labelledby="workbench-code">
      <div class="row">
        <h2 id="workbench-code">{t.codeForThisResult}</h2>
        <span class="row" role="group" aria-label={t.environment}>
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
          {children}
          <CopyButton label={t.copy} read={() => code} />
        </span>
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={ENVIRONMENTS[environment.value].name}>
        <SafeText text={code} limit={6000} />
      </pre>
      <p class="help">
        <Sentence text={ENVIRONMENTS[environment.value].help} />
      </p>
    </section>
  );
}

/** Longer input is not inlined in the command, which then reads it from a file. */
const MAX_INLINE_LENGTH = 4000;
type CodeForResult = Readonly<{ library: string; command: string; http: string }>;

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
    ...(schema === '' ? [] : [String.raw`const schema = fromJsonSchema(${schema});`]),
    String.raw`const result = parse(${input.join(', ')});`,
    String.raw`if (result.ok) console.log(result.value, result.repairs);`,
    String.raw`else if (result.status === 'failed') console.error(result.error.code, result.error.message);`,
    '',
  ].join('\n');
}

function createCommandLine(hasSchema: boolean, options: WorkbenchOptions): string {
  const flags = listChanged(options, hasSchema).map(
    ([name, value]) => `--${splitName(name, '-')}${value === true ? '' : ` ${value}`}`,
  );
  return `${[String.raw`sluice parse answer.txt`, ...(hasSchema ? [String.raw`--schema schema.json`] : []), ...flags].join(' ')}\n`;
}

function createHttpRequest(text: string, schema: string, options: WorkbenchOptions, origin: string): string {
  const settings = listChanged(options, schema !== '').map(([name, value]) => [splitName(name, '_'), value] as const);
  const head = String.raw`curl -s ${origin}/v1/parse -H 'content-type: application/json'`;
  const parsed = parseStored(schema) ?? undefined;
  if (text.length + schema.length <= MAX_INLINE_LENGTH) {
    const body = { text, ...(parsed !== undefined && { schema: parsed }), ...Object.fromEntries(settings) };
    return `${head} -d ${quoteForShell(escapeNonAscii(JSON.stringify(body)))}\n`;
  }
  const fields = ['text: .', ...(parsed === undefined ? [] : ['schema: $schema[0]'])];
  const slurp = parsed === undefined ? '' : String.raw` --slurpfile schema schema.json`;
  const settingFields = settings.map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `jq -Rs${slurp} '{${[...fields, ...settingFields].join(', ')}}' answer.txt | ${head} -d @-\n`;
}

/** Escapes everything but printable ASCII, so a copied command does exactly what is shown. */
function escapeNonAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Copies a link to the current input, schema and options; the input is in the fragment, which no server receives. */
export function ShareButton({ read, open }: Readonly<{ read: () => SharedCase; open: (shared: SharedCase) => void }>) {
  const message = useSignal('');
  useEffect(() => void openShared(open), []);
  const share = async (): Promise<void> => {
    const fragment = await packCase(read());
    if (fragment === null) {
      message.value = t.tooLongForALink;
      return;
    }
    const link = `${location.origin}${location.pathname}${location.search}${fragment}`;
    try {
      await navigator.clipboard.writeText(link);
      message.value = t.linkCopied;
    } catch {
      // If the page is not allowed to write to the clipboard, the link is put into the address bar.
      history.replaceState(history.state, '', link);
      message.value = t.copyTheLinkFromThe;
    }
  };
  return (
    <span class="row">
      <span class="dim small" role="status">
        {message.value}
      </span>
      <Button label={t.shareLink} title={t.theOutputIsInThe} onClick={() => void share()} />
    </span>
  );
}

/** Opens the case in the address and removes it from the address, so a reload keeps later edits. */
async function openShared(open: (shared: SharedCase) => void): Promise<void> {
  const shared = await unpackCase(location.hash);
  if (shared === null) return;
  open(shared);
  history.replaceState(history.state, '', location.pathname + location.search);
}

type SharedCase = Readonly<{ text: string; schemaText: string }>;
const PREFIX = '#case=';
/** Some applications truncate longer links. */
const MAX_LINK_LENGTH = 32_000;
/** The maximum unpacked size, because a short link can unpack to megabytes. */
const MAX_BYTES = 4_000_000;

/** Packs a case into a URL fragment, which browsers do not send to any server; null if it is too long for a link. */
export async function packCase(shared: SharedCase): Promise<string | null> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  if (bytes.length > MAX_BYTES) return null;
  const packed = await readBytes(new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw')));
  const base64 = btoa([...packed].map((byte) => String.fromCodePoint(byte)).join(''));
  const fragment = PREFIX + base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return fragment.length > MAX_LINK_LENGTH ? null : fragment;
}

/** Reads the case from a fragment; null if missing or damaged. */
export async function unpackCase(fragment: string): Promise<SharedCase | null> {
  if (!fragment.startsWith(PREFIX) || fragment.length > MAX_LINK_LENGTH) return null;
  try {
    const binary = atob(fragment.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/'));
    const packed = new Blob([Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0)]);
    const bytes = await readBytes(packed.stream().pipeThrough(new DecompressionStream('deflate-raw')));
    const shared: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (!isObject(shared)) return null;
    const { text, schemaText } = shared;
    return typeof text === 'string' && typeof schemaText === 'string' ? { text, schemaText } : null;
  } catch {
    // A truncated or edited link.
    return null;
  }
}

/** Reads a whole stream; throws if it exceeds the maximum case size. */
async function readBytes(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  let length = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      length += part.length;
      if (length > MAX_BYTES) controller.error(new RangeError());
      else controller.enqueue(part);
    },
  });
  return new Uint8Array(await new Response(stream.pipeThrough(limit)).arrayBuffer());
}
