/** Whether a value has named parts. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value that should be a string; anything else is empty. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
