import type { Client } from '../../../src/client/index.js';
import type { WorkbenchOptions } from './inspection.js';

type CaseBody = Parameters<Client['exportTextCase']>[0]['body'];

/**
 * Builds the request for a suite case. Throws if a case cannot contain the schema or an option, because its result
 * would differ from the one on the page.
 *
 * @example
 * buildCaseRequest('answer-1', { text: '{}', schemaText: '', options }) // { name: 'answer-1', text: '{}', profile: 'default', … }
 */
export function buildCaseRequest(
  name: string,
  input: { readonly text: string; readonly schemaText: string; readonly options: WorkbenchOptions },
): CaseBody {
  const { profile, allowPartial, align, prefer } = input.options;
  if (prefer !== null) {
    throw new Error('a case has no option "Prefer". Choose "Default order", then try again.');
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
