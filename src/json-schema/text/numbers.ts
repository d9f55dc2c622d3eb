import { foldCase, MAX_TEXT_LENGTH } from './spelling.js';

/** The notation of a number: only quoted, or another notation. */
type NumberRule = 'number_text' | 'number_notation';

/** The schema's hints about the expected number. */
export interface NumberHints {
  /** The number is a share between -1 and 1, so `85%` is 0.85 and not 85. */
  readonly isShare: boolean;
  /** Words of the key and its description; a unit must be among them (`72 kg` for `weight_kg`). */
  readonly words: ReadonlySet<string>;
}

const PLAIN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const SYMBOL = String.raw`(?:(?:us|ca|au|hk|nt|sg|nz)?\$|[€£¥₹₩₽₺₫฿₴₪₱]|r\$)`;
const CODE = String.raw`(?:usd|eur|gbp|jpy|cny|rmb|inr|chf|cad|aud|nzd|hkd|twd|sgd|krw|sek|nok|dkk|pln|brl|mxn|zar|try|rub|dollars?|euros?|pounds?|yen|yuan|元|円)`;
const BEFORE = new RegExp(String.raw`^([+-]?)\s*(?:${SYMBOL}|${CODE}(?=[\s\d]))\s*([+-]?)`, 'u');
const AFTER = new RegExp(String.raw`\s*(?:${SYMBOL}|${CODE})$`, 'u');
const CODES = new Set(
  'usd eur gbp jpy cny rmb inr chf cad aud nzd hkd twd sgd krw sek nok dkk pln brl mxn zar rub'.split(' '),
);
const DOLLARS = 'usd cad aud nzd hkd twd sgd brl mxn';
/** The currencies that a sign or word may stand for. */
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['$', DOLLARS],
  ['dollar', DOLLARS],
  ['€', 'eur'],
  ['euro', 'eur'],
  ['£', 'gbp'],
  ['pound', 'gbp'],
  ['¥', 'jpy cny rmb'],
  ['yen', 'jpy'],
  ['円', 'jpy'],
  ['yuan', 'cny rmb'],
  ['元', 'cny rmb twd hkd'],
  ['₹', 'inr'],
  ['₩', 'krw'],
]);
const PERCENT = /\s*(?:%|percent|per cent|pct\.?)$/;
const MAGNITUDES: ReadonlyMap<string, number> = new Map([
  ['k', 3],
  ['thousand', 3],
  ['million', 6],
  ['mn', 6],
  ['billion', 9],
  ['bn', 9],
  ['trillion', 12],
  ['万', 4],
  ['亿', 8],
]);
/** Letters that are a magnitude only for an amount of money: `$5M`, but `5 m` are metres. */
const MONEY_MAGNITUDES: ReadonlyMap<string, number> = new Map([
  ['m', 6],
  ['b', 9],
  ['t', 12],
]);
/** `Score: 85`, where the schema calls it a score. */
const LABELLED = /^([\p{L}][\p{L}\s_-]{0,40})[:=]\s*(.+)$/u;
const WORD_AFTER = /^(.*\d)\s*([\p{L}°]+)\.?$/u;

/**
 * Reads a text that is exactly one number. Refused: two numbers, approximations (`~5`, `5+`), fractions
 * (`4/5` may be a rating), units the schema does not name, and integers a double cannot hold.
 */
export function readNumber(text: string, hints: NumberHints): { value: number; rule: NumberRule } | undefined {
  // Compatibility folding would read 10⁵ as 105.
  if (text.length > MAX_TEXT_LENGTH || /\p{No}/u.test(text)) return undefined;
  const folded = foldCase(text.replaceAll(/[−–](?=\s*[\d$€£¥])/g, '-')).trim();
  if (PLAIN.test(folded)) return toOutcome(folded, 0, 'number_text');
  const [, label, labelled] = LABELLED.exec(folded) ?? [];
  if (label === undefined || labelled === undefined) return readNotation(folded, hints);
  const isNamed = label
    .trim()
    .split(/[\s_-]+/)
    .every((word) => hints.words.has(word));
  return isNamed ? readNotation(labelled, hints) : undefined;
}

function readNotation(text: string, hints: NumberHints): { value: number; rule: NumberRule } | undefined {
  let rest = text;
  const percent = rest.replace(PERCENT, '');
  const isPercent = percent !== rest;
  rest = percent;
  let isMoney = false;
  if (!isPercent) {
    const accounting = /^\((.*)\)$/.exec(rest)?.[1];
    const amount = (accounting ?? rest).replace(BEFORE, '$1$2').replace(AFTER, '');
    isMoney = amount !== (accounting ?? rest);
    if (isMoney && isOtherCurrency(rest, hints.words)) return undefined;
    // Brackets mean a negative amount in accounts; around a bare number they mean nothing.
    if (accounting !== undefined && (!isMoney || amount.startsWith('-'))) return undefined;
    rest = accounting === undefined ? amount : `-${amount}`;
  }
  const word = WORD_AFTER.exec(rest);
  let shift = isPercent && hints.isShare ? -2 : 0;
  if (word !== null) {
    const [, number = '', name = ''] = word;
    const magnitude = MAGNITUDES.get(name) ?? (isMoney ? MONEY_MAGNITUDES.get(name) : undefined);
    if (magnitude === undefined && !isNamedUnit(name, hints.words)) return undefined;
    shift += magnitude ?? 0;
    rest = number;
  }
  // `€1.234` is 1234 where the point groups, and 1.234 where it does not.
  if (isMoney && word === null && /^[+-]?\d{1,3}\.\d{3}$/.test(rest.trim())) return undefined;
  const digits = readDigits(rest.trim());
  return digits === undefined ? undefined : toOutcome(digits, shift, 'number_notation');
}

/** Whether an amount names a currency, and words about it only others: `$50` beside `EUR`. */
export function isOtherCurrency(amount: string, words: Iterable<string>): boolean {
  const own = listCurrencies(amount);
  const named = [...words].filter((word) => /^\s*[\p{L}\p{Sc}]+\s*$/u.test(word)).flatMap(listCurrencies);
  return own.length > 0 && named.length > 0 && !named.some((code) => own.includes(code));
}

function listCurrencies(text: string): string[] {
  const names = foldCase(text).match(/\p{L}+|\p{Sc}/gu) ?? [];
  return names.flatMap((name) => (CODES.has(name) ? [name] : (SIGNS.get(name.replace(/s$/, ''))?.split(' ') ?? [])));
}

/** `years` for a key or description that mentions years or a year. */
function isNamedUnit(unit: string, words: ReadonlySet<string>): boolean {
  const singular = unit.replace(/s$/, '');
  return [unit, singular, `${singular}s`].some((form) => words.has(form));
}

const GROUPED_BY_COMMA = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const GROUPED_IN_LAKHS = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;
const GROUPED_BY_POINT = /^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$/;
const GROUPED_BY_GAP = /^\d{1,3}(?:[\s'’_]\d{3})+(?:[.,]\d+)?$/;
const DECIMAL_COMMA = /^(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+)$/;

/** Removes the separators where only one reading is possible: `1,234` is grouped, `1.234,5` and `1,5` are European. */
function readDigits(text: string): string | undefined {
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const digits = text.slice(sign.length).trim();
  if (PLAIN.test(digits)) return sign + digits;
  if (GROUPED_BY_COMMA.test(digits) && !digits.startsWith('0')) return sign + digits.replaceAll(',', '');
  if (GROUPED_IN_LAKHS.test(digits)) return sign + digits.replaceAll(',', '');
  if (GROUPED_BY_POINT.test(digits)) return sign + digits.replaceAll('.', '').replace(',', '.');
  if (GROUPED_BY_GAP.test(digits)) return sign + digits.replaceAll(/[\s'’_]/g, '').replace(',', '.');
  return DECIMAL_COMMA.test(digits) ? sign + digits.replace(',', '.') : undefined;
}

/** Shifts by the exponent in the text, which is exact where multiplying is not. */
function toOutcome(digits: string, shift: number, rule: NumberRule): { value: number; rule: NumberRule } | undefined {
  const [mantissa = '', exponent = '0'] = digits.toLowerCase().split('e');
  const value = Number(`${mantissa}e${Number(exponent) + shift}`);
  if (!Number.isFinite(value)) return undefined;
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^[+-]?\d+$/.test(digits)) return undefined;
  return { value: value === 0 ? 0 : value, rule };
}
