/** Phrases that are not plain English, and what to write instead. */
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

/** The same for pages only: in code these words are often names or test data. */
const PAGE_PHRASES: typeof PHRASES = [
  [/\bbeside\b/i, 'next to, in addition to'],
  [/\b(?:stands|stood|lies|lay) (?:in|on|at|under|outside|there|for|between|apart)\b/i, 'is'],
  [/\b(?:speaks?|spoken|hears?|heard) (?:of|at|ACP|MCP|HTTP|S3|the protocol)\b/i, 'supports, receives'],
  [/\b(?:one|a) [a-z]+ a (?:line|page|row|set|run|call|file|scenario)\b/i, 'one … per …'],
];

/** Lists the lines that use such phrases, with what to write instead. Code in pages is not checked for all of them. */
export function findDialect(text: string, { isPage = false } = {}): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const prose = isPage ? line.replaceAll(/`[^`]*`/g, '') : '';
    const found =
      PHRASES.find(([pattern]) => pattern.test(line)) ?? PAGE_PHRASES.find(([pattern]) => pattern.test(prose));
    if (found === undefined) return [];
    const [phrase = ''] = found[0].exec(line) ?? [];
    return [`line ${index + 1}: "${phrase}"; write ${found[1]}`];
  });
}
