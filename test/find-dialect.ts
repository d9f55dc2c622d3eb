/** Phrases that make a reader translate, and what the field says instead. */
const PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /\b(?:tells?|told|telling)\b|\b(?:tell|told)(?=[A-Z])|(?<=[a-z])(?:Tell|Told)(?![a-z])/i,
    'emit, report, stream or log',
  ],
  [/\bcarr(?:y|ies|ied|ying) out\b/i, 'execute'],
  [/\bhand(?:s|ed|ing)? (?:it |them )?(?:on|out)\b/i, 'pass or assign'],
  [/\bputs? in order\b/i, 'reconcile'],
  [/\banew\b/i, 'again'],
  [/(?<!\b(?:there|where) )\b(?:is|are|was|were) none\b(?! of\b)/i, 'is not one, is invalid'],
  [/\bas (?:it|they) came\b/i, 'unchanged'],
  [
    /(?<!\b[Tt]here )\bis no (?:JSON|text|object|number|file|folder|schema|array|list|string|agent|run)\b/,
    'is not a …',
  ],
  [/\bwhoever\b/i, 'the caller, the process that'],
  [/\bof (?:its|their|our|his) own\b(?![ -]\w)/, 'separate, its own'],
  [/(?<![\w'"`/=@<])nobody(?![\w'"`@])/i, 'no person, no process'],
  [/\bgiv(?:es?|en|ing) up\b/i, 'fails, is aborted'],
  [/\b(?:MOST|LONGEST|LEAST|FEWEST|SHORTEST|SMALLEST|LARGEST)_[A-Z]/, 'MAX_ or MIN_'],
  [/^\s*\/\*\* (?:What(?! (?:happened|to do)\b)|Those who)\b/, 'what it is: The options of …, Reads …'],
  [
    /\b(?:function\*?|const|let) (?!(?:is|expect)[A-Z])[a-z]\w*(?<!\b(?:one|any|all|array|list))Of\b/,
    'a verb: getX, listX, createX',
  ],
];

/** The lines of a text that use the old dialect of this project, with what to write instead. */
export function findDialect(text: string): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = PHRASES.find(([pattern]) => pattern.test(line));
    return found === undefined ? [] : [`line ${index + 1}: "${found[0].exec(line)?.[0]}"; write ${found[1]}`];
  });
}
