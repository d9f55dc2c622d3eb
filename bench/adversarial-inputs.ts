/** A malicious input of any size. */
export interface AdversarialInput {
  readonly name: string;
  /** Its size in characters; every input is also run at a quarter and at twice that size. */
  readonly size: number;
  readonly make: (size: number) => string;
  /** The nesting depth, if it is valid JSON. */
  readonly depth?: (size: number) => number;
}

const MEGABYTE = 1_000_000;

/** Inputs that make other parsers crash or hang. */
export const ADVERSARIAL_INPUTS: readonly AdversarialInput[] = [
  repeated('200,000 ×  [', '[', 200_000),
  repeated('1 MB of {"a":', '{"a":'),
  repeated('1 MB of "', '"'),
  repeated('1 MB of \\', '\\'),
  repeated('1 MB of ,', ','),
  repeated('1 MB of fences', '```json\n'),
  wrapped('1 MB of unescaped quotes', '{"a": "', 'he said "no" and ', '"}'),
  wrapped('1 MB of quotes and commas', '["', 'a", "b" c, ', '"]'),
  wrapped('10 MB unclosed string', '{"a": "', 'x', '', 10 * MEGABYTE),
  {
    name: 'valid, 100,000 levels of [',
    size: 200_000,
    make: (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
    depth: (size) => size / 2,
  },
  {
    name: 'valid, 100,000 levels of {"a":',
    size: 600_000,
    make: (size) => `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
    depth: (size) => size / 6,
  },
];

/** More malicious inputs, for each finder and each repair. */
export const MORE_ADVERSARIAL_INPUTS: readonly AdversarialInput[] = [
  repeated('1 MB of { ', '{ '),
  repeated('1 MB of {x} ', '{x} '),
  repeated('1 MB of [1] ', '[1] '),
  repeated('1 MB of {"a":1}', '{"a":1}\n'),
  repeated('1 MB of <think>', '<think>'),
  repeated('1 MB of <json>', '<json>'),
  repeated('1 MB of <json>{', '<json>{"a": '),
  repeated('1 MB of harmony markers', '<|channel|>final<|message|>{'),
  repeated("1 MB of '", "'"),
  repeated('1 MB of /*', '/*'),
  repeated('1 MB of [//', '[//'),
  repeated('1 MB of f(', 'f('),
  repeated('1 MB of - and .', '[-.'),
  wrapped('1 MB of "a" +', '[', '"a" + ', '"b"]'),
  wrapped('1 MB of members without commas', '{', '"a" "b" ', '}'),
];

function repeated(name: string, unit: string, size = MEGABYTE): AdversarialInput {
  return wrapped(name, '', unit, '', size);
}

function wrapped(name: string, before: string, unit: string, after: string, size = MEGABYTE): AdversarialInput {
  return { name, size, make: (length) => before + unit.repeat(Math.ceil(length / unit.length)) + after };
}
