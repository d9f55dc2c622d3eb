import { z } from 'zod';
import type { OpenApi } from '../../src/server/api/index.js';

type Schema = Readonly<Record<string, unknown>>;

const SchemaValue = z.record(z.string(), z.unknown());
const Content = z.record(z.string(), z.object({ schema: SchemaValue.optional(), example: z.unknown().optional() }));
const Operation = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(
    z.object({ name: z.string(), in: z.string(), description: z.string().default(''), schema: SchemaValue }),
  ),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ content: Content.optional() })),
});
type Operation = z.infer<typeof Operation>;

/** The description of the operations repeats the codes of problems, which have pages. */
const CODES = /Problem codes: ([\w, ]+)\./;

/** Renders the reference of the HTTP API from its OpenAPI document: a page for each tag, and one for the schemas. */
export function renderHttpPages(document: OpenApi): (readonly [path: string, text: string])[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      address: `${method.toUpperCase()} ${path}`,
      operation: Operation.parse(operation),
    })),
  );
  const pages = document.tags.map(({ name, description }): readonly [string, string] => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const sections = own.map(({ address, operation }) => renderOperation(address, operation));
    return [`http/${name.toLowerCase()}.md`, [`# ${name}`, '', description, '', ...sections].join('\n')];
  });
  const rows = operations.map(({ address, operation }) => {
    const page = operation.tags[0]?.toLowerCase() ?? '';
    return `| [\`${address}\`](/http/${page}.md#${operation.operationId}) | ${escapeCell(operation.summary)} |`;
  });
  const index = [
    '# HTTP reference',
    '',
    'All endpoints of `sluice serve`, generated from its OpenAPI document ([openapi.json](/openapi.json)). [The server](/server.md) explains events, errors and limits.',
    '',
    '| endpoint | does |',
    '| --- | --- |',
    ...rows,
    '',
  ];
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => renderNamedSchema(name, schema));
  return [
    ['http/index.md', index.join('\n')],
    ...pages,
    ['http/schemas.md', ['# Schemas', '', 'The objects in requests and responses.', '', ...schemas].join('\n')],
  ];
}

function renderOperation(address: string, operation: Operation): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  return [
    `<a id="${operationId}"></a>`,
    '',
    `## ${address}`,
    '',
    summary,
    '',
    description.replace(CODES, (_, codes: string) => {
      const links = codes.split(', ').map((code) => `[\`${code}\`](/errors/index.md#${code})`);
      return `Problem codes: ${links.join(', ')}.`;
    }),
    '',
    ...renderTable(
      ['parameter', 'in', 'type', 'meaning'],
      parameters.map(({ name, in: place, schema, description: meaning }) => [
        `\`${name}\``,
        place,
        renderType(schema),
        escapeCell(meaning),
      ]),
    ),
    ...renderContent('Request', requestBody?.content),
    ...renderContent(`Response ${success?.[0] ?? ''}`, success?.[1].content),
  ].join('\n');
}

function renderContent(title: string, content: z.infer<typeof Content> | undefined): string[] {
  return Object.entries(content ?? {}).flatMap(([media, { schema, example }]) => [
    `**${title.trim()}**: \`${media}\`${schema === undefined ? '' : `, ${renderType(schema)}`}`,
    '',
    ...(schema === undefined ? [] : renderFields(schema)),
    ...(example === undefined ? [] : ['```json', JSON.stringify(example, null, 2), '```', '']),
  ]);
}

function renderNamedSchema(name: string, schema: Schema): string {
  const { description } = schema;
  return [
    `## ${name}`,
    '',
    ...(typeof description === 'string' ? [description, ''] : []),
    ...(schema['properties'] === undefined ? [`Type: ${renderType(schema)}`, ''] : renderFields(schema)),
  ].join('\n');
}

function renderFields(schema: Schema): string[] {
  const properties = SchemaValue.safeParse(schema['properties']);
  if (!properties.success) return [];
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const rows = Object.entries(properties.data).map(([name, value]) => {
    const field = SchemaValue.safeParse(value).data ?? {};
    const { description } = field;
    return [
      `\`${name}\`${required.has(name) ? '' : '?'}`,
      renderType(field),
      typeof description === 'string' ? escapeCell(description) : '',
    ];
  });
  return renderTable(['field', 'type', 'meaning'], rows);
}

/** Names a schema's type in a cell of a table; a reference links to its schema. */
function renderType(schema: Schema, depth = 0): string {
  const { $ref: reference, type, items, const: constant, enum: values, anyOf, oneOf } = schema;
  if (typeof reference === 'string') {
    const name = reference.split('/').at(-1) ?? '';
    return `[${name}](/http/schemas.md#${name.toLowerCase()})`;
  }
  if (constant !== undefined) return renderValue(constant);
  if (Array.isArray(values)) return values.map(renderValue).join(' \\| ');
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (choices !== undefined && depth < 3) {
    const types = choices.map((choice) => renderType(SchemaValue.parse(choice), depth + 1));
    return [...new Set(types)].join(' \\| ');
  }
  const element = SchemaValue.safeParse(items);
  if (type === 'array' && element.success && depth < 3) return `list of ${renderType(element.data, depth + 1)}`;
  return Array.isArray(type) ? type.join(' \\| ') : typeof type === 'string' ? type : 'any';
}

function renderValue(value: unknown): string {
  return `\`${JSON.stringify(value).replaceAll('|', String.raw`\|`)}\``;
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [...lines, ''];
}

/** Escapes text in a cell: a bar would end it, and a bracket could start an element. */
function escapeCell(text: string): string {
  return text
    .replaceAll('|', String.raw`\|`)
    .replaceAll('\n', ' ')
    .replaceAll('<', '&lt;');
}
