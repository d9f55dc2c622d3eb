/** One public test case of another project: an input, and the value or error that the project expects. */
export interface ConformanceCase {
  readonly id: string;
  readonly kind: CaseKind;
  readonly input: string;
  readonly expectation: { readonly value: unknown } | 'error';
  readonly schema?: JsonObject | boolean;
}

const CASE_KINDS = ['repair', 'extract', 'partial', 'schema'] as const;

/** The function that a case tests. */
export type CaseKind = (typeof CASE_KINDS)[number];

type JsonObject = Readonly<Record<string, unknown>>;

/** Reads a file of cases; throws with the index of the first invalid entry. */
export function readCases(text: string): readonly ConformanceCase[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new TypeError('a set of cases is a JSON array');
  return list.map((entry: unknown, index) => {
    const read = readCase(entry);
    if (read === undefined) {
      const kinds = CASE_KINDS.join(' | ');
      throw new TypeError(`entry ${index} is not { id, input, expected | expectError: true, kind: ${kinds}, schema? }`);
    }
    return read;
  });
}

function readCase(entry: unknown): ConformanceCase | undefined {
  if (!isObject(entry)) return undefined;
  const { id, input, expected, expectError, kind: name, schema } = entry;
  const kind = CASE_KINDS.find((known) => known === name);
  if (typeof id !== 'string' || typeof input !== 'string' || kind === undefined) return undefined;
  if (expectError !== true && !('expected' in entry)) return undefined;
  const expectation = expectError === true ? 'error' : { value: expected };
  const isSchema = isObject(schema) || typeof schema === 'boolean';
  if (kind === 'schema' && !isSchema) return undefined;
  return isSchema ? { id, kind, input, expectation, schema } : { id, kind, input, expectation };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
