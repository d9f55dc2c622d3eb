/** Block quotes; terminal colours; CDATA markers; entities. */
const NOISE = /^>|[^\P{Cc}\s]\[[\d;?]{0,32}[A-Za-z]|<!\[CDATA\[|\]\]>|&(quot|apos|amp|lt|gt|#34|#39);/u.source;
/**
 * Thousands separators in a number after a quoted key (elsewhere a comma can separate items or be content). Removed only
 * if a number in the text shows that they are: `1,234` alone could have a decimal comma.
 */
const GROUPS = /(?<="\s{0,9}:\s{0,9}-?\d{1,3}(?:,\d{3}){0,5}),(?=\d{3}(?:,\d{3}){0,5}(?:\.\d+)?\s{0,99}[,}])/u.source;
/** A line added in a diff; if any exists, removed lines are dropped. */
const ADDED_LINE = /^\+[ \t]*["{}[\]]/m;
const LINE_NUMBER = /^[ \t]{0,9}\d{1,6}([ \t]?[|:│→]|[ \t])/gm;
/** An entity used as a quote. Elsewhere it can be content. */
const QUOTE_ENTITY = /[[{,:]\s{0,99}&(quot|#34);/;
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', '#34': '"', amp: '&', lt: '<', gt: '>' };

/**
 * Removes what terminals, editors and web pages add. Only for input that could not be read: the removed parts might be
 * content.
 */
export function removeNoise(text: string): string {
  const numbers = Array.from(text.match(LINE_NUMBER) ?? [], (prefix) => Number.parseInt(prefix, 10));
  const isNumbered = numbers.length > 1 && numbers.every((number, index) => number === index + (numbers[0] ?? 0));
  const hasEntities = QUOTE_ENTITY.test(text);
  const pattern = [NOISE];
  if (ADDED_LINE.test(text)) pattern.push('^\\+|^-.*\\n?');
  if (/\d,\d{3}(?:,\d{3}|\.\d)/.test(text)) pattern.push(GROUPS);
  if (isNumbered) pattern.push(LINE_NUMBER.source);
  return text.replaceAll(new RegExp(pattern.join('|'), 'gmu'), (noise, entity: string | undefined) =>
    entity ? (hasEntities ? (ENTITIES[entity] ?? "'") : noise) : '',
  );
}
