import { inFile } from '../run-mutation.js';
import type { Mutation } from '../run-mutation.js';

/**
 * Mutations for section 000 of `docs/requirements.md` (deterministic repair): each breaks a clause in the file that
 * implements it.
 */
export const REPAIR: readonly Mutation[] = [
  ...inFile(
    'src/json/find/strict-spans.ts',
    [
      'Step 3a: code fences are removed.',
      "yield createSpan('fence', index + 3 + language.length, index + fence.length - 3);",
      ';',
    ],
    [
      'Step 3c: the first JSON object is extracted from the surrounding text.',
      '  yield* findFirstObject(text, 0, text.length);\n',
      '',
    ],
    [
      'Step 1: the raw input is parsed as JSON first.',
      "  yield createSpan('whole', 0, text.length, true);\n",
      "  yield createSpan('whole', 0, text.length);\n",
    ],
    [
      '`repair_level` is `deterministic_generic`, with the warning `OUTPUT_REPAIRED_GENERIC`, after a repair: object in text.',
      "if (end !== -1) yield createSpan('prose', start, end);",
      "if (end !== -1) yield createSpan('prose', start, end, true);",
    ],
  ),
  ...inFile(
    'src/json/pipeline.ts',
    [
      '`repair_level` is `none` without a repair.',
      "repairs.length > 0 ? 'deterministic_generic' : 'none'",
      "'deterministic_generic'",
    ],
    [
      '`repair_level` is `deterministic_generic`, with the warning `OUTPUT_REPAIRED_GENERIC`, after a repair: fence.',
      'if (last !== undefined)\n    warn(',
      'if (repairs.length > 99)\n    warn(',
    ],
    [
      'Repair is deterministic: the same input has the same result; neither a model nor a script is called.',
      "return { ok: true, status: 'success', value,",
      "return { ok: true, status: 'success', value: { ...(value as object), at: performance.now() },",
    ],
    [
      'Success means that the schema passes, and nothing else.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
    [
      'Only syntax and structure are repaired; no field is filled in.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return { ...examined, value: { provenance: {}, warnings: [], error: null, ...(examined.value as object) } };',
    ],
    [
      'Step 4: the parsed value is validated against the schema.',
      'if (examined.rejection !== undefined || !settings.hasSchema) return examined;',
      'if (examined.rejection !== undefined || settings.hasSchema) return examined;',
    ],
    [
      'A repaired value that passes the schema is a success.',
      "return { ok: true, status: 'success', value,",
      "if (repairs.length > 0) return failWith([]);\n  return { ok: true, status: 'success', value,",
    ],
    [
      'A repaired value that does not pass is a failure.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
    [
      'A run whose output does not pass fails.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
  ),
  ...inFile('src/json/find/envelope.ts', [
    'Step 2: otherwise, the text in an envelope (`response`) is used.',
    "'structured_output response result",
    "'structured_output result",
  ]),
  ...inFile(
    'src/json/read-span.ts',
    [
      'Step 3b: white space at both ends is removed.',
      'if (!/^\\s*["[{\\d\\-tfn]/.test(block)) return undefined;',
      "if (/^\\s/.test(block)) return createRefusal('SYNTAX', 'white space', offset, offset);",
    ],
    [
      'There are no task-specific repairs, and nothing is guessed from other files.',
      'generic: repairSets.none,',
      'generic: repairSets.all,',
    ],
  ),
  ...inFile(
    'src/json/candidates.ts',
    [
      'Steps 3a to 3c also apply to the content of an envelope.',
      'yield* findInEnvelopes(rejected, findGeneric);',
      "yield* findInEnvelopes(rejected, (inner) => readSpans(inner, [createSpan('whole', 0, inner.length)], settings));",
    ],
    [
      '`repair_level` is `deterministic_generic`, with the warning `OUTPUT_REPAIRED_GENERIC`, after a repair: envelope.',
      "createCandidate(createSpan('envelope', start, end)",
      "createCandidate(createSpan('envelope', start, end, true)",
    ],
  ),
  ...inFile('src/runs/cache/cached-result.ts', [
    'A repaired success can be cached.',
    "if (result.status !== 'success') return result;",
    "if (result.status !== 'success' || result.repair_level !== 'none') return result;",
  ]),
  ...inFile('src/runs/result/build-result.ts', [
    'A run whose output was repaired and passes ends successfully, with a warning and the repair level.',
    'repair_level: judged.repairLevel,',
    "repair_level: 'none',",
  ]),
];
