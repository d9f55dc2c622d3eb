import type { BodyOf } from '../../../src/api/endpoint.js';
import type { ENDPOINTS } from '../../../src/api/endpoints.js';
import type { ParseOutput } from '../../../src/api/parse-output.js';
import { ParseError } from '../../../src/json/index.js';
import type { ParseResult } from '../../../src/json/index.js';
import { inspectResult } from './inspect.js';
import type { InspectionInput } from './inspection.js';
import { readSchemaText } from './read-schema-text.js';
import type { SchemaRefusal, TextReading } from './read-text.js';

type ParseRequest = BodyOf<(typeof ENDPOINTS)['parse']>;

/** What the server answers `POST /v1/parse` with, and how it is asked. */
export type AskServer = (request: ParseRequest) => Promise<ParseOutput>;

/** Has the server read a text that is too long for the page's own thread. */
export async function readByServer(input: InspectionInput, ask: AskServer): Promise<TextReading | SchemaRefusal> {
  const { text, schemaText, options } = input;
  const reading = readSchemaText(schemaText);
  if (!reading.ok) return reading;
  const began = performance.now();
  const hasSchema = schemaText.trim() !== '';
  const output = await ask({
    text,
    profile: options.profile,
    allow_partial: options.allowPartial,
    align: options.align && hasSchema,
    ...(hasSchema && { schema: JSON.parse(schemaText) as Record<string, unknown> | boolean }),
    ...(options.prefer !== null && { prefer: options.prefer }),
  });
  const { inspection, value } = inspectResult(text, toResult(output));
  return {
    ok: true,
    inspection,
    tookMs: performance.now() - began,
    writeValue: () => JSON.stringify(value, null, 2) ?? '',
    startStream: null,
  };
}

/** The answer as `parse` would have returned it here. */
function toResult(output: ParseOutput): ParseResult<unknown> {
  const { status, warnings, repairs, error, candidate } = output;
  if (status === 'success' && candidate !== undefined) {
    const { value, repair_level: repairLevel, alignment = [] } = output;
    return { ok: true, status, value, repairLevel, repairs, alignment, warnings, candidate };
  }
  if (status === 'comment') return { ok: false, status, comment: output.comment ?? '', repairLevel: 'none', warnings };
  const { code = 'NO_JSON', message = 'the server gave no reason', ...details } = error ?? {};
  const attempts = error?.attempts ?? [];
  // The codes of the server are those of the same floor.
  const failed = new ParseError(code as ParseError['code'], message, { ...details, attempts });
  return { ok: false, status: 'failed', error: failed, repairLevel: 'none', warnings, attempts };
}
