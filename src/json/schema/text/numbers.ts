import { foldCase, LETTER_AS_WORD, MAX_TEXT_LENGTH } from './spelling.js';

/** The notation of a number: only quoted, or another notation. */
type NumberRule = 'number_text' | 'number_notation';

/** The schema's hints about the expected number. */
export interface NumberHints {
  /** The number is a fraction between -1 and 1, so `85%` is 0.85 and not 85. */
  readonly isFraction: boolean;
  /** Words of the key and its description; a unit must be among them (`72 kg` for `weight_kg`). */
  readonly words: ReadonlySet<string>;
  /** Words of the key alone: other names of its unit count too (`20 minutes` for `duration_min`). */
  readonly keyWords: ReadonlySet<string>;
}

const PLAIN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const SYMBOL = String.raw`(?:(?:us|ca|au|hk|nt|sg|nz)?\$|[€£¥₹₩₽₺₫฿₴₪₱]|r\$)`;
const CODE = String.raw`(?:usd|eur|gbp|jpy|cny|rmb|inr|chf|cad|aud|nzd|hkd|twd|sgd|krw|sek|nok|dkk|pln|brl|mxn|zar|try|rub|dollars?|euros?|pounds?|yen|yuan|元|円)`;
const CURRENCY_PREFIX = new RegExp(String.raw`^([+-]?)\s*(?:${SYMBOL}|${CODE}(?=[\s\d]))\s*([+-]?)`, 'u');
const CURRENCY_SUFFIX = new RegExp(String.raw`\s*(?:${SYMBOL}|${CODE})$`, 'u');
const CODES = new Set(
  'usd eur gbp jpy cny rmb inr chf cad aud nzd hkd twd sgd krw sek nok dkk pln brl mxn zar rub'.split(' '),
);
const DOLLARS = 'usd cad aud nzd hkd twd sgd brl mxn';
/** The currencies that a sign or word can mean. */
const SIGNS: ReadonlyMap<string, string> = new Map(
  [`$=${DOLLARS}`, `dollar=${DOLLARS}`, '€=eur', 'euro=eur', '£=gbp', 'pound=gbp', 'yen=jpy', '円=jpy']
    .concat(['¥=jpy cny rmb', 'yuan=cny rmb', '元=cny rmb twd hkd', '₹=inr', '₩=krw'])
    .map((row): [string, string] => [row.replace(/=.*/, ''), row.replace(/.*=/, '')]),
);
const PERCENT = /\s*(?:%|percent|per cent|pct\.?)$/;
/** Words for a number of which it is unknown whether it is 0.45 or 45. */
const FRACTION_WORDS = 'confidence fraction likelihood probability proportion ratio share weight'.split(' ');
/** Names of magnitudes by their exponent. */
const MAGNITUDES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    3: 'k thousand',
    4: '万 萬',
    5: 'lakh',
    6: 'million mn mio millionen millions millones',
    7: 'crore',
    8: '亿 億',
    9: 'billion bn mrd milliarden milliards',
    12: 'trillion',
  }).flatMap(([exponent, names]) => names.split(' ').map((name) => [name, Number(exponent)])),
);
/** Letters that are a magnitude only for an amount of money: `$5M`, but `5 m` are metres. */
const MONEY_MAGNITUDES: ReadonlyMap<string, number> = new Map(Object.entries({ m: 6, b: 9, t: 12 }));
/** Magnitudes in languages where a point separates thousands. */
const AMBIGUOUS_MAGNITUDE = /\d\s*(?:mio|millionen|mrd|milliarden|millones)\.?$/;
/** `Score: 85`, if the schema calls it a score. */
const LABELLED = /^([\p{L}][\p{L}\s_-]{0,40})(?:([:=])\s*|\s(?=\d))(.+)$/u;
/** A sign that only announces a number: `#7`, `No. 7`. */
const NUMBER_SIGN = /^(?:#|№|n[or]\.)\s*(?=\d+$)/;
const WORD_AFTER = /^(.*\d)[\s-]*([\p{L}°]+(?:-[\p{L}]+)?)\.?(?: old| alt)?$/u;

/** A possible value of a number, and the rule that read it. */
interface NumberReading {
  readonly value: number;
  readonly rule: NumberRule;
}

/**
 * Lists what a string that is exactly one number can mean: usually one value; two for `1,234`, which is grouped or has a
 * decimal comma, and for `45%` of a ratio, if neither the schema nor the notation decides. The caller takes a value
 * only if it is the only one that the schema accepts. Not read: two numbers, approximations (`~5`, `5+`), fractions
 * (`4/5` could be a rating), units the schema does not mention, and integers that a double cannot represent.
 */
export function readNumber(text: string, hints: NumberHints): readonly NumberReading[] {
  // Compatibility folding would read 10⁵ as 105.
  if (text.length > MAX_TEXT_LENGTH || /\p{No}/u.test(text)) return [];
  const folded = toAsciiDigits(foldCase(text.replaceAll(/[−–](?=\s*[\d$€£¥])/g, '-'))).trim();
  if (PLAIN.test(folded)) return toReadings([folded], 0, 'number_text');
  const [, label, separator, labelledValue] = LABELLED.exec(folded) ?? [];
  // Without a colon or equals sign, as in `line 3`, only the words of the key count.
  const words = separator === undefined ? hints.keyWords : hints.words;
  if (label === undefined || labelledValue === undefined) return readNotation(folded, hints);
  const isNamed = label
    .trim()
    .split(/[\s_-]+/)
    .every((word) => words.has(word));
  if (isNamed) return readNotation(labelledValue, hints);
  return separator === undefined ? readNotation(folded, hints) : [];
}

/** Converts digits and separators of other scripts. Every script's ten digits start at a code that ends in 0 or 6. */
function toAsciiDigits(text: string): string {
  return text.replaceAll(/[\u0660-\uabf9]/g, (char) => {
    if (char === '٫' || char === '٬') return char === '٫' ? '.' : ',';
    const low = char.charCodeAt(0) % 16;
    const isFromZero = /\p{Nd}/u.test(String.fromCharCode(char.charCodeAt(0) - low));
    return /\p{Nd}/u.test(char) ? String(low - (isFromZero ? 0 : 6)) : char;
  });
}

function readNotation(text: string, hints: NumberHints): readonly NumberReading[] {
  let rest = text.replace(NUMBER_SIGN, '');
  const percent = rest.replace(PERCENT, '');
  const isPercent = percent !== rest;
  rest = percent;
  let isMoney = false;
  if (!isPercent) {
    const accounting = /^\((.*)\)$/.exec(rest)?.[1];
    const amount = (accounting ?? rest).replace(CURRENCY_PREFIX, '$1$2').replace(CURRENCY_SUFFIX, '');
    isMoney = amount !== (accounting ?? rest);
    if (isMoney && isOtherCurrency(rest, hints.words)) return [];
    // In accounting, parentheses mark a negative amount; around a number without a currency they mean nothing.
    if (accounting !== undefined && (!isMoney || amount.startsWith('-'))) return [];
    rest = accounting === undefined ? amount : `-${amount}`;
  }
  const word = WORD_AFTER.exec(rest);
  let shift = 0;
  if (word !== null) {
    const [, number = '', name = ''] = word;
    const magnitude = MAGNITUDES.get(name) ?? (isMoney ? MONEY_MAGNITUDES.get(name) : undefined);
    if (magnitude === undefined && !isNamedUnit(name, hints.words) && !isSameUnit(name, hints.keyWords)) return [];
    shift = magnitude ?? 0;
    rest = number;
  }
  // `€1.234` is 1234 if the point separates thousands, and 1.234 if it is a decimal point.
  if ((isMoney ? word === null : AMBIGUOUS_MAGNITUDE.test(text)) && /^[+-]?\d{1,3}\.\d{3}$/.test(rest.trim()))
    return [];
  const digits = readDigits(rest.trim(), isMoney && !/€|eur/.test(text));
  const readings = toReadings(digits, shift, 'number_notation');
  const isPartOfOne = isPercent && (hints.isFraction || FRACTION_WORDS.some((name) => hints.words.has(name)));
  if (!isPartOfOne) return readings;
  const fractions = toReadings(digits, -2, 'number_notation');
  return hints.isFraction ? fractions : [...readings, ...fractions];
}

/** Whether an amount has a currency while the words around it name only others: `$50` next to `EUR`. */
export function isOtherCurrency(amount: string, words: Iterable<string>): boolean {
  const currencies = listCurrencies(amount);
  const named = currencies.length > 0 ? listNamedCurrencies([...words]) : [];
  return named.length > 0 && !named.some((code) => currencies.includes(code));
}

/** Lists the codes of the currencies that the words name. */
export function listNamedCurrencies(words: readonly string[]): string[] {
  return words.filter((word) => /^\s*[\p{L}\p{Sc}]+\s*$/u.test(word)).flatMap(listCurrencies);
}

function listCurrencies(text: string): string[] {
  const names = foldCase(text).match(/\p{L}+|\p{Sc}/gu) ?? [];
  return names.flatMap((name) => (CODES.has(name) ? [name] : (SIGNS.get(name.replace(/s$/, ''))?.split(' ') ?? [])));
}

/** Whether the key or description mentions the unit, in singular or plural, or inside a word in scripts without spaces. */
function isNamedUnit(unit: string, words: ReadonlySet<string>): boolean {
  const singular = unit.replace(/s$/, '');
  const forms = [unit, singular, `${singular}s`];
  return (
    forms.some((form) => words.has(form)) ||
    (LETTER_AS_WORD.test(unit) && [...words].some((word) => word.includes(unit)))
  );
}

const GROUPED_BY_COMMA = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const GROUPED_IN_LAKHS = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;
const GROUPED_BY_POINT = /^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$/;
const GROUPED_BY_GAP = /^\d{1,3}(?:[\s'’_]\d{3})+(?:[.,]\d+)?$/;
const DECIMAL_COMMA = /^(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+)$/;

/**
 * Removes the separators: `1.234,5` and `1,5` are European; `1,234` is either, unless a comma separates groups in the
 * currency it is an amount of, or only zeros follow it.
 */
function readDigits(text: string, isGrouped: boolean): string[] {
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const digits = text.slice(sign.length).trim();
  if (PLAIN.test(digits)) return [sign + digits];
  const grouped = sign + digits.replaceAll(',', '');
  const decimal = sign + digits.replace(',', '.');
  if (GROUPED_BY_COMMA.test(digits) && !digits.startsWith('0'))
    return isGrouped || !/^\d+,(?!000)\d+$/.test(digits) ? [grouped] : [grouped, decimal];
  if (GROUPED_IN_LAKHS.test(digits)) return [grouped];
  if (GROUPED_BY_POINT.test(digits)) return [sign + digits.replaceAll('.', '').replace(',', '.')];
  if (GROUPED_BY_GAP.test(digits)) return [sign + digits.replaceAll(/[\s'’_]/g, '').replace(',', '.')];
  return DECIMAL_COMMA.test(digits) ? [decimal] : [];
}

/** Shifts the decimal point through the exponent in the string, which is exact, unlike multiplication. */
function toReadings(candidates: readonly string[], shift: number, rule: NumberRule): NumberReading[] {
  return candidates.flatMap((digits) => {
    const [mantissa = '', exponent = '0'] = digits.toLowerCase().split('e');
    const value = Number(`${mantissa}e${Number(exponent) + shift}`);
    const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value) && /^[+-]?\d+$/.test(digits);
    return isInexact || !Number.isFinite(value) ? [] : [{ value: value === 0 ? 0 : value, rule }];
  });
}

/** Names of the same unit: abbreviations, words, and quantities that are always measured in it. */
const UNITS = [
  'mg milligram milligramm',
  'g gram gramm',
  'kg kilo kilogram kilogramm',
  'lb pound',
  'oz ounce',
  'mm millimeter millimetre',
  'cm centimeter centimetre zentimeter',
  'm meter metre',
  'km kilometer kilometre',
  'mi mile',
  'ft foot feet',
  'ly lightyear light-year lichtjahr',
  'ml milliliter millilitre',
  'l liter litre',
  'ms millisecond millisekunde',
  's sec second sekunde sekunden',
  'min minute minuten',
  'h hr hour stunde stunden',
  'd day tag tage',
  'week woche wochen',
  'month monat monate',
  'age year yr jahr jahre lebensjahre an ano 岁 歳 살 年龄 年齢 나이',
  'c °c celsius',
  'f °f fahrenheit',
  'kb kilobyte',
  'mb megabyte',
  'gb gigabyte',
  'qty quantity count piece pcs pc item unit stuck stk menge anzahl quantite cantidad pieza',
  'mmhg bp systolic diastolic',
  'population inhabitant people resident einwohner habitant habitante 人',
].map((names) => new Set(names.split(' ')));

/**
 * Whether a unit is the one that a key names, in another notation: `20 minutes` for `duration_min`, `30 years` for `age`. Only if
 * the key names one unit: `speed_km_h` names two.
 */
function isSameUnit(unit: string, keyWords: ReadonlySet<string>): boolean {
  const names = new Set([unit, unit.replace(/s$/, '')]);
  const [named, another] = UNITS.filter((row) =>
    [...keyWords].some((word) => row.has(word) || row.has(word.replace(/s$/, ''))),
  );
  return named !== undefined && another === undefined && [...names].some((name) => named.has(name));
}

/** Whether a word is the name of a unit. */
export function isUnit(word: string): boolean {
  const unit = foldCase(word);
  return UNITS.some((row) => row.has(unit) || row.has(unit.replace(/s$/, '')));
}

const HAN_NUMBER =
  /[一二两三四五六七八九][一二两三四五六七八九十百千万零〇]*[十百千万][一二两三四五六七八九十百千万零〇]*/gu;
const HAN_DIGITS = '零一二三四五六七八九';
const SMALL_NUMBERS = [
  ...'zero one two three four five six seven eight nine ten eleven twelve'.split(' '),
  ...'thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' '),
];
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
/** `one` has other meanings too: `one of them`. */
const ENGLISH_NUMBER = new RegExp(
  `\\b(?:(${TENS.join('|')})(?:[- ](${SMALL_NUMBERS.slice(1, 10).join('|')}))?|(${SMALL_NUMBERS.slice(2).join('|')}))\\b`,
  'g',
);

/** Writes numbers in Chinese characters, and English words for numbers from two to ninety-nine, as digits, in lower case. */
export function spellDigits(text: string): string {
  const spelled = text
    .toLowerCase()
    .replaceAll(ENGLISH_NUMBER, (_, ten?: string, digit: string = 'zero', small: string = digit) =>
      String((ten === undefined ? 0 : 20 + 10 * TENS.indexOf(ten)) + SMALL_NUMBERS.indexOf(small)),
    );
  return spelled.replaceAll(HAN_NUMBER, (number) => {
    let [total, group, digit] = [0, 0, 0];
    for (const char of number.replaceAll('两', '二').replaceAll('〇', '零')) {
      const exponent = '十百千万'.indexOf(char) + 1;
      if (exponent === 0) digit = HAN_DIGITS.indexOf(char);
      else if (exponent === 4) [total, group, digit] = [(total + group + digit) * 10_000, 0, 0];
      else [group, digit] = [group + (digit || 1) * 10 ** exponent, 0];
    }
    return String(total + group + digit);
  });
}
