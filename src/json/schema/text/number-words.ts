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
